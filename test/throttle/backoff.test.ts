import { describe, expect, test } from 'vitest';
import type { ResponseClass } from '../../src/core/slot-protocol.ts';
import { ask, release, reset, rulesOf, type ThrottleState } from '../../src/throttle/index.ts';
import { anAsk, CONFIG, fixed, granted, middle, NOON, openThrottle, startedNow } from './support.ts';

let hour = 0;
/** Sends one request, long after the last one, that gets this kind of response. */
function request(
  state: ThrottleState,
  responseClass: ResponseClass,
  overrides = {},
  retryAfterMs?: number,
): void {
  const now = NOON + ++hour * 7_200_000;
  const { id } = granted(state, anAsk(`t${hour}`, overrides), now);
  const retryAfter = retryAfterMs === undefined ? {} : { retryAfterMs };
  release(
    state,
    {
      leaseId: id,
      use: startedNow(responseClass, { durationMs: 9, ...retryAfter }),
    },
    now,
    middle,
  );
}

describe('backoff', () => {
  test('doubles the gap with each overload, up to a limit', () => {
    const state = openThrottle();
    const grown = [20_000, 40_000, 80_000, 160_000, 320_000, 600_000, 600_000];
    for (const backoffMs of grown) {
      request(state, 'overloaded');
      expect(state.backoffMs).toBe(backoffMs);
    }
  });

  test('begins with one second if there is no gap to double', () => {
    const state = openThrottle();
    request(state, 'overloaded', { delay: fixed(0) });
    expect(state.backoffMs).toBe(1_000);
  });

  test('is halved by each success, and ends when it is below the delay', () => {
    const state = openThrottle();
    for (let n = 0; n < 3; n += 1) request(state, 'overloaded', { delay: fixed(15_000) });
    const left = [60_000, 30_000, 15_000, 0].map(() => {
      request(state, 'ok', { delay: fixed(15_000) });
      return state.backoffMs;
    });
    expect(left).toEqual([60_000, 30_000, 15_000, 0]);
  });

  test('grows once for requests in flight together, and their successes do not reduce it', () => {
    const state = openThrottle();
    const overrides = { concurrency: 4, delay: fixed(1_000) };
    const leases = [0, 1, 2].map((n) => granted(state, anAsk(`p${n}`, overrides), NOON + n * 1_000));
    const responses = ['overloaded', 'overloaded', 'ok'] as const;
    for (const [n, { id }] of leases.entries()) {
      const use = startedNow(responses[n] ?? 'ok', { agoMs: 2_000 });
      release(state, { leaseId: id, use }, NOON + 4_000, middle);
    }
    expect(state.backoffMs).toBe(2_000);
    expect(state.stats.overloaded).toBe(2);
  });

  test('grows with the response to a slot that was reserved before, but used after it grew', () => {
    const state = openThrottle();
    const [first, second] = ['first', 'second'].map((ticket) => granted(state, anAsk(ticket), NOON));
    release(state, { leaseId: first?.id ?? '', use: startedNow('overloaded') }, NOON, middle);
    release(state, { leaseId: second?.id ?? '', use: startedNow('overloaded') }, NOON + 20_000, middle);
    expect(state.backoffMs).toBe(40_000);
  });

  test('does not grow with broken responses, which are only counted', () => {
    const state = openThrottle();
    request(state, 'broken');
    expect(state.backoffMs).toBe(0);
    expect(state.stats.broken).toBe(1);
  });

  test('is also halved by a 404, because the site is healthy', () => {
    const state = openThrottle();
    for (let n = 0; n < 2; n += 1) request(state, 'overloaded');
    request(state, 'not-found');
    expect(state.backoffMs).toBe(20_000);
  });

  test('does not change with any other 4xx', () => {
    const state = openThrottle();
    for (let n = 0; n < 2; n += 1) request(state, 'overloaded');
    request(state, 'client-error');
    expect(state.backoffMs).toBe(40_000);
  });

  test('ends when the operator resets the domain', () => {
    const state = openThrottle();
    request(state, 'overloaded', {}, 60_000);
    reset(state, NOON);
    expect([state.backoffMs, state.blockedUntil]).toEqual([0, null]);
  });

  test('does not grow with a 429 that was in flight during a reset, but with the next one', () => {
    const state = openThrottle();
    const lease = ask(state, anAsk('in flight'), NOON, middle);
    if (lease.kind !== 'granted') throw new Error(lease.kind);
    reset(state, NOON + 1_000);
    const use = startedNow('overloaded', { agoMs: 2_000 });
    release(state, { leaseId: lease.lease.id, use }, NOON + 2_000, middle);
    expect(state.backoffMs).toBe(0);
    request(state, 'overloaded');
    expect(state.backoffMs).toBeGreaterThan(0);
  });
});

describe('Retry-After', () => {
  test('blocks the domain for that time plus up to a tenth', () => {
    const state = openThrottle();
    request(state, 'overloaded', {}, 100_000);
    const { lastStart, blockedUntil } = state;
    expect(blockedUntil).toBe((lastStart?.at ?? 0) + 105_000);
    expect(granted(state, anAsk('waiting'), lastStart?.at ?? 0).notBefore).toBe(blockedUntil);
  });

  test('makes the slots void that are already reserved, and not those of other answers', () => {
    const state = openThrottle();
    const [first, reserved] = ['first', 'reserved'].map((ticket) => granted(state, anAsk(ticket), NOON));
    const use = startedNow('overloaded');
    release(state, { leaseId: first?.id ?? '', use }, NOON, middle);
    expect(reserved?.version).toBeGreaterThanOrEqual(rulesOf(state).validFrom);
    request(state, 'overloaded', {}, 1_000);
    expect(reserved?.version).toBeLessThan(rulesOf(state).validFrom);
  });

  test('has an upper limit', () => {
    const state = openThrottle();
    request(state, 'overloaded', {}, 10 * CONFIG.maxRetryAfterMs);
    expect((state.blockedUntil ?? 0) - (state.lastStart?.at ?? 0)).toBe(1.05 * CONFIG.maxRetryAfterMs);
  });
});
