import { describe, expect, test } from 'vitest';
import { ask, newThrottle, release, tick, validateAsk, withdraw } from '../../src/throttle/index.ts';
import {
  anAsk,
  CONFIG,
  fixed,
  granted,
  middle,
  NOON,
  openThrottle,
  startedNow,
  ticked,
  tickedOne,
} from './support.ts';

describe('a page that asks', () => {
  test('is granted at once when a slot is open', () => {
    const answer = ask(openThrottle(), anAsk('t'), NOON, middle);
    expect(answer).toMatchObject({ kind: 'granted', lease: { ticket: 't', notBefore: NOON }, now: NOON });
  });

  test('is granted up to 300 ms before its slot, with a notBefore to wait for', () => {
    const state = openThrottle();
    const first = granted(state, anAsk('first'), NOON);
    const use = startedNow();
    release(state, { leaseId: first.id, use }, NOON, middle);
    expect(ask(structuredClone(state), anAsk('early'), NOON + 9_699, middle).kind).toBe('queued');
    expect(granted(state, anAsk('ahead'), NOON + 9_700).notBefore).toBe(NOON + 10_000);
  });

  test('gets its position and the expected time of its slot', () => {
    const state = openThrottle();
    granted(state, anAsk('first'), NOON);
    ask(state, anAsk('second'), NOON, middle);
    const answer = ask(state, anAsk('third'), NOON, middle);
    expect(answer).toEqual({ kind: 'queued', position: 2, expectedAt: NOON + 20_000, now: NOON });
  });

  test('while it holds a lease gets the same lease with the same deadlines', () => {
    const state = openThrottle();
    const lease = granted(state, anAsk('t'), NOON);
    const before = structuredClone(state);
    expect(granted(state, anAsk('t'), NOON + 5_000)).toEqual(lease);
    expect(state).toEqual(before);
  });

  test('again while queued keeps its position', () => {
    const state = openThrottle();
    granted(state, anAsk('first'), NOON);
    for (const ticket of ['second', 'third', 'second']) ask(state, anAsk(ticket), NOON, middle);
    expect(ask(state, anAsk('second'), NOON + 60, middle)).toMatchObject({ kind: 'queued', position: 1 });
    expect(state.queue.waiting).toHaveLength(2);
  });

  test('again after its lease has expired is queued again', () => {
    const state = openThrottle();
    const lease = granted(state, anAsk('t'), NOON);
    expect(granted(state, anAsk('t'), lease.expiresAt + 1).id).not.toBe(lease.id);
  });

  test('does not overtake earlier tickets if a slot becomes free at that moment', () => {
    const state = openThrottle();
    const first = granted(state, anAsk('first'), NOON);
    ask(state, anAsk('second'), NOON, middle);
    release(state, { leaseId: first.id, use: { kind: 'unused' } }, NOON, middle);
    expect(ask(state, anAsk('third'), NOON, middle).kind).toBe('queued');
    expect(tickedOne(state, NOON).ticket).toBe('second');
  });

  test('gets a time to retry while the queue is full', () => {
    const state = openThrottle({ queueLimit: 2 });
    for (const ticket of ['out', 'one', 'two']) ask(state, anAsk(ticket), NOON, middle);
    expect(ask(state, anAsk('three'), NOON, middle)).toEqual({
      kind: 'full',
      retryAt: NOON + 10_000,
      now: NOON,
    });
    expect(ask(state, anAsk('one'), NOON, middle).kind).toBe('queued');
  });

  test('and withdraws leaves the queue, and returns a lease as unused', () => {
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

  test('is queued until the row of the domain has been read', () => {
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
  ])('with an invalid value (%o) gets an error that names it', (invalid, sentence) => {
    expect(validateAsk(anAsk('t', invalid))).toMatch(sentence);
    expect(validateAsk(anAsk('t'))).toBeNull();
  });
});

test('a queue of a thousand tickets is served completely and quickly', () => {
  const state = openThrottle();
  for (let n = 0; n < 1_000; n += 1) {
    ask(state, anAsk(`t${n}`, { crawlId: `c${n % 7}`, priority: n % 3, delay: fixed(0) }), NOON, middle);
  }
  const served = new Set<string>();
  for (let now = NOON; state.leases.length > 0 || served.size === 0; now += 1) {
    for (const { lease } of [...state.leases]) {
      served.add(lease.ticket);
      const use = startedNow('ok', { durationMs: 1 });
      release(state, { leaseId: lease.id, use }, now, middle);
    }
    ticked(state, now);
  }
  expect(served.size).toBe(1_000);
});
