import { describe, expect, test } from 'vitest';
import type { Ask } from '../../src/core/slot-protocol.ts';
import { ask, pause, release, type ThrottleState, validateAsks } from '../../src/throttle/index.ts';
import { anAsk, fixed, granted, middle, NOON, openThrottle, startedNow } from './support.ts';

/** The times of the slots that these tickets get at noon, in seconds after noon. */
function slots(state: ThrottleState, tickets: string[], overrides: Partial<Ask> = {}): number[] {
  return tickets.map((ticket) => (granted(state, anAsk(ticket, overrides), NOON).notBefore - NOON) / 1_000);
}

const asked = (state: ThrottleState, ticket: string, now: number, overrides: Partial<Ask> = {}) =>
  ask(state, anAsk(ticket, overrides), now, middle);

describe('a page that asks', () => {
  test('gets a slot at once when one is free', () => {
    expect(granted(openThrottle(), anAsk('t'), NOON)).toMatchObject({ ticket: 't', notBefore: NOON });
  });

  test('gets the next free slot, a gap after the last reserved one', () => {
    expect(slots(openThrottle(), ['a', 'b', 'c'])).toEqual([0, 10, 20]);
  });

  test('gets a slot a gap after the last start, not after its report', () => {
    const state = openThrottle();
    const { id } = granted(state, anAsk('first'), NOON);
    release(state, { leaseId: id, use: startedNow('ok', { agoMs: 500 }) }, NOON + 2_000, middle);
    expect(granted(state, anAsk('next'), NOON + 2_000).notBefore).toBe(NOON + 11_500);
  });

  test('keeps the delay of the crawl whose slot is before it', () => {
    const state = openThrottle();
    slots(state, ['slow'], { delay: fixed(30_000) });
    expect(slots(state, ['quick'], { delay: fixed(1_000) })).toEqual([30]);
  });

  test('gets a slot that was returned', () => {
    const state = openThrottle();
    slots(state, ['a', 'b', 'c']);
    const returned = state.leases[1]?.lease.id ?? '';
    release(state, { leaseId: returned, use: { kind: 'unused' } }, NOON, middle);
    expect(slots(state, ['d', 'e'])).toEqual([10, 30]);
  });

  test('does not get a place between two slots that is too small for its gap', () => {
    const state = openThrottle();
    slots(state, ['a', 'b', 'c']);
    const returned = state.leases[1]?.lease.id ?? '';
    release(state, { leaseId: returned, use: { kind: 'unused' } }, NOON, middle);
    expect(slots(state, ['d'], { delay: fixed(15_000) })).toEqual([35]);
  });

  test('gets a slot after those whose pages wait at the gate', () => {
    const state = openThrottle();
    slots(state, ['a', 'b', 'c']);
    const now = NOON + 20_500;
    // The first is being used, the second has ended, and the third is late.
    expect(granted(state, anAsk('d'), now).notBefore).toBe(now + 10_000);
  });

  test('is planned no further ahead of the gate, however many requests start a little late', () => {
    const state = openThrottle();
    const [gapMs, lateMs, reserved, pages] = [1_000, 10, 4, 150];
    const askFor = (page: number, now: number) =>
      granted(state, anAsk(`page ${page}`, { delay: fixed(gapMs) }), now);
    const leases = Array.from({ length: reserved }, (_, page) => askFor(page, NOON));
    let start = NOON;
    for (let page = reserved; page < pages; page += 1) {
      const lease = leases.shift();
      if (lease === undefined) throw new Error('no lease');
      start = Math.max(lease.notBefore, start + (page > reserved ? gapMs : 0)) + lateMs;
      release(state, { leaseId: lease.id, use: startedNow() }, start, middle);
      leases.push(askFor(page, start));
      expect(start - lease.notBefore).toBeLessThan(100);
    }
  });

  test('is planned with the time of the fetches if that is longer than the gap', () => {
    const state = openThrottle();
    const { id } = granted(state, anAsk('first'), NOON - 60_000);
    release(state, { leaseId: id, use: startedNow('ok', { durationMs: 30_000 }) }, NOON - 60_000, middle);
    expect(slots(state, ['a', 'b'])).toEqual([0, 30]);
    expect(slots(state, ['c'], { concurrency: 2 })).toEqual([15]);
  });

  test('waits as long again as the request that keeps others from the gate is open', () => {
    const state = openThrottle();
    slots(state, ['slow', 'refused'], { delay: fixed(1_000) });
    const refused = state.leases[1]?.lease.id ?? '';
    const now = NOON + 4_000;
    release(state, { leaseId: refused, use: { kind: 'unused', busy: true } }, now, middle);
    expect(asked(state, 'next', now)).toMatchObject({ kind: 'later', retryAt: now + 4_000 });
    expect(asked(state, 'next', now + 4_000)).toMatchObject({ kind: 'later', retryAt: now + 12_000 });
  });

  test('gets a slot as soon as the request that kept others from the gate has ended', () => {
    const state = openThrottle();
    const [slow = '', refused = ''] = ['slow', 'refused'].map(
      (ticket) => granted(state, anAsk(ticket), NOON).id,
    );
    const now = NOON + 14_000;
    release(state, { leaseId: refused, use: { kind: 'unused', busy: true } }, now, middle);
    release(state, { leaseId: slow, use: startedNow('broken', { agoMs: 14_000 }) }, now, middle);
    expect(granted(state, anAsk('next'), now).notBefore).toBe(now);
  });

  test('gets a slot if only one of the concurrent requests is slow', () => {
    const state = openThrottle();
    const [, refused = ''] = ['slow', 'refused'].map((ticket) => granted(state, anAsk(ticket), NOON).id);
    release(state, { leaseId: refused, use: { kind: 'unused', busy: true } }, NOON + 14_000, middle);
    expect(asked(state, 'next', NOON + 14_000, { concurrency: 2 })).toMatchObject({ kind: 'granted' });
  });

  test('right after robots.txt gets the next slot, whatever is reserved', () => {
    const state = openThrottle();
    slots(state, ['a', 'b', 'c']);
    expect(slots(state, ['first', 'second'], { atFront: true })).toEqual([0, 10]);
  });

  test('while it holds a lease gets the same lease', () => {
    const state = openThrottle();
    const lease = granted(state, anAsk('t'), NOON);
    const before = structuredClone(state);
    expect(granted(state, anAsk('t'), NOON + 5_000)).toEqual(lease);
    expect(state).toEqual(before);
  });

  test('again after its lease has expired gets another one', () => {
    const state = openThrottle();
    const lease = granted(state, anAsk('t'), NOON);
    expect(granted(state, anAsk('t'), lease.startBy + 60_000).id).not.toBe(lease.id);
    expect(state.stats).toMatchObject({ lost: 1, active: 1 });
  });

  test.each([
    [{ ticket: '' }, /ticket/],
    [{ concurrency: 0 }, /concurrency 0/],
    [{ maxFetchMs: 0 }, /maxFetchMs 0/],
    [{ delay: { minMs: 5, maxMs: 1 } }, /delay of 5 to 1 ms/],
    [{ origin: '__proto__' }, /"__proto__" is not an origin/],
    [{ targetConcurrency: 0 }, /targetConcurrency 0/],
  ])('with an invalid value (%o) gets an error that names it', (invalid, sentence) => {
    expect(validateAsks([anAsk('t'), anAsk('t', invalid)])).toMatch(sentence);
    expect(validateAsks([anAsk('t')])).toBeNull();
  });
});

describe('a page that gets no slot yet', () => {
  test('because enough are reserved returns when one may be free', () => {
    const state = openThrottle({ maxReserved: 2 });
    slots(state, ['a', 'b', 'c']);
    expect(asked(state, 'd', NOON)).toMatchObject({ kind: 'later', retryAt: NOON + 10_000 });
    expect(asked(state, 'e', NOON)).toMatchObject({ kind: 'later', retryAt: NOON + 20_000 });
  });

  test('because its slot is too far ahead returns when it is near enough', () => {
    const state = openThrottle({ horizonMs: 15_000 });
    slots(state, ['a', 'b']);
    expect(asked(state, 'c', NOON)).toMatchObject({ kind: 'later', retryAt: NOON + 10_000 });
    expect(granted(state, anAsk('c'), NOON + 10_000).notBefore).toBe(NOON + 20_000);
  });

  test('is not overtaken by a page that asks later', () => {
    const state = openThrottle({ maxReserved: 1 });
    slots(state, ['a', 'b']);
    asked(state, 'c', NOON);
    const first = state.leases[0]?.lease.id ?? '';
    release(state, { leaseId: first, use: startedNow() }, NOON + 1_000, middle);
    expect(asked(state, 'd', NOON + 1_000).kind).toBe('later');
    // The first request started a second late, so the one after it will, too.
    expect(granted(state, anAsk('c'), NOON + 10_000).notBefore).toBe(NOON + 21_000);
  });

  test('is forgotten if it does not return', () => {
    const state = openThrottle({ maxReserved: 1 });
    slots(state, ['a', 'b']);
    asked(state, 'gone', NOON);
    for (const { lease } of [...state.leases])
      release(state, { leaseId: lease.id, use: startedNow() }, NOON + 15_000, middle);
    const much = NOON + 10_000 + 10_001;
    expect(granted(state, anAsk('next'), much).ticket).toBe('next');
    expect(state.waiting).toEqual([]);
  });

  test('because the domain is paused is remembered', () => {
    const state = openThrottle();
    pause(state);
    expect(asked(state, 't', NOON)).toMatchObject({ kind: 'later', reason: 'the domain is paused' });
    expect(state.waiting).toMatchObject([{ ticket: 't', workflowId: 'page-t' }]);
  });

  test('still gets an answer when more wait than can be remembered', () => {
    const state = openThrottle({ maxReserved: 0, maxWaiting: 1 });
    slots(state, ['a']);
    for (const ticket of ['b', 'c']) expect(asked(state, ticket, NOON).kind).toBe('later');
    expect(state.waiting).toHaveLength(1);
  });
});

test('however far ahead, the next slot may be reserved', () => {
  const state = openThrottle({ horizonMs: 1_000 });
  const { id } = granted(state, anAsk('first', { delay: fixed(3_600_000) }), NOON);
  release(state, { leaseId: id, use: startedNow() }, NOON, middle);
  expect(granted(state, anAsk('next'), NOON + 1).notBefore).toBe(NOON + 3_600_000);
});

test('a thousand pages that ask until they are served are served in time', () => {
  const state = openThrottle();
  const due = new Map(Array.from({ length: 1_000 }, (_, n) => [`t${n}`, NOON]));
  let [asks, now] = [0, NOON];
  for (; due.size > 0; now += 1_000) {
    for (const { lease } of [...state.leases])
      if (lease.notBefore <= now)
        release(
          state,
          { leaseId: lease.id, use: startedNow('ok', { agoMs: now - lease.notBefore }) },
          now,
          middle,
        );
    for (const [ticket, at] of due) {
      if (at > now) continue;
      asks += 1;
      const answer = asked(state, ticket, now, { delay: fixed(1_000) });
      if (answer.kind === 'granted') due.delete(ticket);
      else if (answer.kind === 'later') due.set(ticket, answer.retryAt);
    }
  }
  expect(now - NOON).toBeLessThan(1_050_000);
  expect(asks).toBeLessThan(3_000);
});
