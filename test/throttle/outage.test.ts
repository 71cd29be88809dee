import { describe, expect, test } from 'vitest';
import type { Ask, ResponseClass } from '../../src/core/slot-protocol.ts';
import {
  ask,
  idleAt,
  newThrottle,
  open,
  release,
  rulesOf,
  type ThrottleState,
  toStoredDomain,
  view,
} from '../../src/throttle/index.ts';
import {
  anAsk,
  CONFIG,
  fixed,
  granted,
  middle,
  NOON,
  ORIGIN,
  openThrottle,
  reading,
  startedNow,
} from './support.ts';

const OTHER = 'http://example.org:8080';
const MINUTE = 60_000;
/** The first retry time, with the jitter of `middle`. */
const FIRST_MS = 10.5 * MINUTE;

function report(state: ThrottleState, leaseId: string, responseClass: ResponseClass, now: number): void {
  const use = startedNow(responseClass, { durationMs: 9, error: 'It was refused.' });
  release(state, { leaseId, use }, now, middle);
}

let tickets = 0;
/** Sends one request that gets this kind of response. */
function request(
  state: ThrottleState,
  responseClass: ResponseClass,
  now: number,
  overrides: Partial<Ask> = {},
): void {
  tickets += 1;
  report(state, granted(state, anAsk(`r${tickets}`, overrides), now).id, responseClass, now);
}

/** The site could not be reached at noon. */
function downSinceNoon(): ThrottleState {
  const state = openThrottle();
  request(state, 'unreachable', NOON);
  return state;
}

const asked = (state: ThrottleState, ticket: string, now: number, overrides: Partial<Ask> = {}) =>
  ask(state, anAsk(ticket, overrides), now, middle);

describe('an origin that cannot be reached', () => {
  test('is down: an ask is answered with the time and the reason, and does not wait', () => {
    const state = downSinceNoon();
    const answer = asked(state, 'late', NOON + MINUTE);
    expect(answer).toMatchObject({
      kind: 'down',
      since: NOON,
      reason: `${ORIGIN} cannot be reached: It was refused.`,
      givenUp: false,
    });
    expect(state.waiting).toEqual([]);
    expect(view(state, NOON + MINUTE)).toMatchObject({
      phase: 'down',
      outages: [{ origin: ORIGIN, until: NOON + FIRST_MS, failures: 1 }],
      recent: { requests: 1, failures: 1 },
    });
  });

  test('gets its pages back after the retry time, spread over a quarter of it', () => {
    const state = downSinceNoon();
    const backAt = (random: number) => {
      const answer = ask(state, anAsk('x'), NOON + 1, () => random);
      return answer.kind === 'down' ? answer.retryAt : null;
    };
    expect([backAt(0), backAt(1)]).toEqual([NOON + FIRST_MS, NOON + FIRST_MS + 2.5 * MINUTE]);
  });

  test('makes the slots of its pages void that are already reserved, but not those of other origins', () => {
    const state = openThrottle();
    const first = granted(state, anAsk('first'), NOON);
    const reserved = granted(state, anAsk('reserved'), NOON);
    report(state, first.id, 'unreachable', NOON);
    expect(reserved.version).toBeLessThan(state.outages[ORIGIN]?.validFrom ?? 0);
    expect(reserved.version).toBeGreaterThanOrEqual(rulesOf(state).validFrom);
  });

  test('is probed by one page after the retry time, while the others wait for the result', () => {
    const state = downSinceNoon();
    const probe = granted(state, anAsk('a'), NOON + FIRST_MS);
    expect(asked(state, 'b', NOON + FIRST_MS + 1).kind).toBe('later');
    report(state, probe.id, 'ok', NOON + FIRST_MS + 2_000);
    expect(asked(state, 'b', NOON + FIRST_MS + 2_000).kind).toBe('granted');
    expect(view(state, NOON + FIRST_MS + 2_000)).toMatchObject({ phase: 'open', outages: [] });
  });

  test('is probed by the next page if the first one returns or loses its lease', () => {
    const state = downSinceNoon();
    const unused = granted(state, anAsk('a'), NOON + FIRST_MS);
    release(state, { leaseId: unused.id, use: { kind: 'unused' } }, NOON + FIRST_MS, middle);
    const lost = granted(state, anAsk('b'), NOON + FIRST_MS);
    expect(asked(state, 'c', NOON + FIRST_MS).kind).toBe('later');
    expect(asked(state, 'c', lost.startBy + 60_000).kind).toBe('granted');
  });

  test('has twice the retry time after each failure, up to a limit', () => {
    const state = downSinceNoon();
    let now = NOON;
    const spans = [10, 20, 40, 60, 60].map((minutes) => {
      const until = state.outages[ORIGIN]?.until ?? 0;
      const span = until - now;
      now = until;
      request(state, 'unreachable', now);
      return [minutes * 1.05 * MINUTE, span];
    });
    for (const [wanted, span] of spans) expect(span).toBe(wanted);
  });

  test.each<ResponseClass>(['not-found', 'client-error', 'overloaded', 'broken'])(
    'is up again once it answers, were it with "%s"',
    (responseClass) => {
      const state = downSinceNoon();
      request(state, responseClass, NOON + FIRST_MS);
      expect(state.outages).toEqual({});
    },
  );

  test('stays down after a request that we aborted', () => {
    const state = downSinceNoon();
    request(state, 'unknown', NOON + FIRST_MS);
    expect(state.outages[ORIGIN]).toMatchObject({ failures: 1 });
    expect(state.stats.recentResponses).toEqual(['unreachable']);
  });

  test('is given up after a day without a connection', () => {
    const state = downSinceNoon();
    let now = NOON;
    while (now < NOON + CONFIG.outageGiveUpMs) {
      expect(asked(state, 'waits', now + 1)).toMatchObject({ kind: 'down', givenUp: false });
      now = state.outages[ORIGIN]?.until ?? 0;
      request(state, 'unreachable', now);
    }
    expect(asked(state, 'waits', now + 1)).toMatchObject({ kind: 'down', since: NOON, givenUp: true });
  });

  test('has a new outage if it was not tried for a day', () => {
    const state = downSinceNoon();
    const muchLater = NOON + FIRST_MS + CONFIG.outageGiveUpMs + 1;
    request(state, 'unreachable', muchLater);
    expect(state.outages[ORIGIN]).toMatchObject({ since: muchLater, failures: 1 });
  });

  test('keeps its throttle running until the retry time', () => {
    expect(idleAt(downSinceNoon())).toBe(NOON + FIRST_MS + CONFIG.idleTimeoutMs);
  });

  test('is still down in the next execution of its throttle', () => {
    const next = newThrottle('example.org', CONFIG);
    open(next, reading(toStoredDomain(downSinceNoon())), NOON + MINUTE);
    expect(asked(next, 'late', NOON + 2 * MINUTE)).toMatchObject({ kind: 'down', since: NOON });
    request(next, 'ok', NOON + FIRST_MS);
    expect(next.outages).toEqual({});
  });
});

describe('a single failed connection', () => {
  test('does not begin an outage if requests succeeded before: one page probes at once', () => {
    const state = openThrottle();
    request(state, 'ok', NOON);
    request(state, 'unreachable', NOON + MINUTE);
    const probe = granted(state, anAsk('probe', { concurrency: 2 }), NOON + 2 * MINUTE);
    expect(asked(state, 'next', NOON + 2 * MINUTE, { concurrency: 2 }).kind).toBe('later');
    report(state, probe.id, 'ok', NOON + 2.5 * MINUTE);
    expect(asked(state, 'next', NOON + 3 * MINUTE, { concurrency: 2 }).kind).toBe('granted');
  });

  test('begins an outage if the probe fails too', () => {
    const state = openThrottle();
    request(state, 'ok', NOON);
    request(state, 'unreachable', NOON + MINUTE);
    request(state, 'unreachable', NOON + 2 * MINUTE);
    expect(state.outages[ORIGIN]).toMatchObject({ failures: 1, until: NOON + 2 * MINUTE + FIRST_MS });
    expect(asked(state, 'late', NOON + 3 * MINUTE).kind).toBe('down');
  });

  test('does not affect another origin of the domain', () => {
    const state = openThrottle();
    const first = granted(state, anAsk('first', { origin: OTHER }), NOON);
    report(state, first.id, 'unreachable', NOON);
    expect(asked(state, 'dead', NOON + 1, { origin: OTHER }).kind).toBe('down');
    const well = granted(state, anAsk('well'), NOON + 1);
    report(state, well.id, 'ok', NOON + 10_000);
    expect(view(state, NOON + 10_000)).toMatchObject({ phase: 'open', outages: [{ origin: OTHER }] });
  });

  test('counts once for requests in flight together, and not at all if a later one succeeded', () => {
    const state = openThrottle();
    const overrides = { concurrency: 4, delay: fixed(0) };
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((ticket) => {
      const lease = granted(state, anAsk(ticket, overrides), NOON);
      return lease.id;
    });
    report(state, b ?? '', 'ok', NOON);
    report(state, a ?? '', 'unreachable', NOON);
    expect(state.outages).toEqual({});
    report(state, c ?? '', 'unreachable', NOON);
    report(state, d ?? '', 'unreachable', NOON);
    expect(state.outages[ORIGIN]).toMatchObject({ failures: 0 });
  });
});
