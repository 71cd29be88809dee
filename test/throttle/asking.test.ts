import { describe, expect, test } from 'vitest';
import { ask, newThrottle, release, tick, validateAsk, withdraw } from '../../src/throttle/index.ts';
import { anAsk, CONFIG, fixed, granted, middle, NOON, openThrottle, ticked, tickedOne } from './support.ts';

describe('a page that asks', () => {
  test('is granted at once when a slot is open', () => {
    const answer = ask(openThrottle(), anAsk('t'), NOON, middle);
    expect(answer).toMatchObject({ kind: 'granted', lease: { ticket: 't', notBefore: NOON }, now: NOON });
  });

  test('is granted up to 300 ms ahead of its slot, with the notBefore that it has to wait out', () => {
    const state = openThrottle();
    const first = granted(state, anAsk('first'), NOON);
    const use = { kind: 'started', agoMs: 0, latestAt: null, durationMs: 0, responseClass: 'ok' } as const;
    release(state, { leaseId: first.id, use }, NOON, middle);
    expect(ask(structuredClone(state), anAsk('early'), NOON + 9_699, middle).kind).toBe('queued');
    expect(granted(state, anAsk('ahead'), NOON + 9_700).notBefore).toBe(NOON + 10_000);
  });

  test('is told its position and a time by which its slot may be expected', () => {
    const state = openThrottle();
    granted(state, anAsk('first'), NOON);
    ask(state, anAsk('second'), NOON, middle);
    const answer = ask(state, anAsk('third'), NOON, middle);
    expect(answer).toEqual({ kind: 'queued', position: 2, expectedAt: NOON + 20_000, now: NOON });
  });

  test('and holds a lease already gets that lease again with its old deadlines', () => {
    const state = openThrottle();
    const lease = granted(state, anAsk('t'), NOON);
    const before = structuredClone(state);
    expect(granted(state, anAsk('t'), NOON + 5_000)).toEqual(lease);
    expect(state).toEqual(before);
  });

  test('again while in the queue keeps its one place', () => {
    const state = openThrottle();
    granted(state, anAsk('first'), NOON);
    for (const ticket of ['second', 'third', 'second']) ask(state, anAsk(ticket), NOON, middle);
    expect(ask(state, anAsk('second'), NOON + 60, middle)).toMatchObject({ kind: 'queued', position: 1 });
    expect(state.queue.waiting).toHaveLength(2);
  });

  test('again after its lease has expired stands in the queue anew', () => {
    const state = openThrottle();
    const lease = granted(state, anAsk('t'), NOON);
    expect(granted(state, anAsk('t'), lease.expiresAt + 1).id).not.toBe(lease.id);
  });

  test('does not overtake those before it when the slot opens in the moment it asks', () => {
    const state = openThrottle();
    const first = granted(state, anAsk('first'), NOON);
    ask(state, anAsk('second'), NOON, middle);
    release(state, { leaseId: first.id, use: { kind: 'unused' } }, NOON, middle);
    expect(ask(state, anAsk('third'), NOON, middle).kind).toBe('queued');
    expect(tickedOne(state, NOON).ticket).toBe('second');
  });

  test('is turned away while the queue is full, with a time to ask again', () => {
    const state = openThrottle({ queueLimit: 2 });
    for (const ticket of ['out', 'one', 'two']) ask(state, anAsk(ticket), NOON, middle);
    expect(ask(state, anAsk('three'), NOON, middle)).toEqual({
      kind: 'full',
      retryAt: NOON + 10_000,
      now: NOON,
    });
    expect(ask(state, anAsk('one'), NOON, middle).kind).toBe('queued');
  });

  test('and then steps aside loses its place, and what it was granted goes back unused', () => {
    const state = openThrottle();
    granted(state, anAsk('first'), NOON);
    ask(state, anAsk('second'), NOON, middle);
    withdraw(state, 'second', NOON);
    withdraw(state, 'second', NOON);
    expect(state.leases).toHaveLength(1);
    withdraw(state, 'first', NOON);
    expect(state.leases).toEqual([]);
    expect(state.lastStart).toBeNull();
    expect(state.queue.waiting).toEqual([]);
    expect(state.stats.withdrawn).toBe(1);
  });

  test('is only queued until the row of the domain has been read', () => {
    const state = newThrottle('example.org', CONFIG);
    expect(ask(state, anAsk('t'), NOON, middle).kind).toBe('queued');
    expect(tick(state, NOON + 60_000, middle)).toEqual({ grants: [], wakeAt: null });
  });

  test.each([
    [{ ticket: '' }, /ticket/],
    [{ priority: Number.NaN }, /priority/],
    [{ concurrency: 0 }, /concurrency 0/],
    [{ maxFetchMs: 0 }, /maxFetchMs 0/],
    [{ delay: { minMs: 5, maxMs: 1 } }, /delay of 5 to 1 ms/],
    [{ origin: '__proto__' }, /"__proto__" is not an origin/],
    [{ targetConcurrency: 0 }, /targetConcurrency 0/],
  ])('with nonsense (%o) is refused in a sentence', (nonsense, sentence) => {
    expect(validateAsk(anAsk('t', nonsense))).toMatch(sentence);
    expect(validateAsk(anAsk('t'))).toBeNull();
  });
});

test('a thousand in the queue are served to the last one, quickly', () => {
  const state = openThrottle();
  for (let n = 0; n < 1_000; n += 1) {
    ask(state, anAsk(`t${n}`, { crawlId: `c${n % 7}`, priority: n % 3, delay: fixed(0) }), NOON, middle);
  }
  const served = new Set<string>();
  for (let now = NOON; state.leases.length > 0 || served.size === 0; now += 1) {
    for (const { lease } of [...state.leases]) {
      served.add(lease.ticket);
      const use = { kind: 'started', agoMs: 0, latestAt: null, durationMs: 1, responseClass: 'ok' } as const;
      release(state, { leaseId: lease.id, use }, now, middle);
    }
    ticked(state, now);
  }
  expect(served.size).toBe(1_000);
});
