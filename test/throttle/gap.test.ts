import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Ask, Release, ResponseClass } from '../../src/core/slot-protocol.ts';
import { ask, release, setDelay, tick, view } from '../../src/throttle/index.ts';
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

/** The last request, of a crawl with this delay, started at noon. */
function startedAtNoon(overrides: Partial<Ask> = {}, crawlDelay?: NonNullable<Release['crawlDelay']>) {
  const state = openThrottle();
  const { id } = granted(state, anAsk('first', overrides), NOON);
  const use = startedNow();
  release(state, { leaseId: id, use, ...(crawlDelay ? { crawlDelay } : {}) }, NOON, middle);
  return state;
}

const origin = 'https://example.org';

describe('the gap is the longest of', () => {
  test('the delay of the crawl that sent the last request', () => {
    const state = startedAtNoon({ delay: fixed(30_000) });
    const lease = granted(state, anAsk('other', { delay: fixed(1_000) }), NOON + 30_000);
    expect(lease).toMatchObject({ notBefore: NOON + 30_000, minGapMs: 30_000 });
  });

  test('the delay of the crawl that sends the next', () => {
    const state = startedAtNoon({ delay: fixed(1_000) });
    ask(state, anAsk('other', { delay: fixed(30_000) }), NOON, middle);
    expect(tickedOne(state, NOON + 29_700).notBefore).toBe(NOON + 30_000);
  });

  test('the operator’s delay for the domain, also for a page already queued', () => {
    const state = startedAtNoon();
    ask(state, anAsk('waiting'), NOON, middle);
    setDelay(state, fixed(40_000));
    expect(ticked(state, NOON + 39_699)).toEqual([]);
    setDelay(state, null);
    expect(tickedOne(state, NOON + 39_699).minGapMs).toBe(10_000);
  });

  test('the longest Crawl-delay of the domain’s origins, up to a limit', () => {
    const state = startedAtNoon({}, { origin, delayMs: 20_000 });
    expect(ask(state, anAsk('waiting'), NOON + 19_000, middle).kind).toBe('queued');
    release(
      state,
      { leaseId: 'any', use: { kind: 'unused' }, crawlDelay: { origin, delayMs: 1e9 } },
      NOON,
      middle,
    );
    expect(tick(state, NOON, middle).wakeAt).toBe(NOON + CONFIG.maxCrawlDelayMs - CONFIG.grantLeadMs);
    release(
      state,
      { leaseId: 'any', use: { kind: 'unused' }, crawlDelay: { origin, delayMs: null } },
      NOON,
      middle,
    );
    expect(tickedOne(state, NOON + 19_000).minGapMs).toBe(10_000);
  });

  test('the average latency of successes over the target concurrency', () => {
    const state = startedAtNoon({ delay: fixed(1_000) });
    const serve = (durationMs: number, responseClass: ResponseClass, at: number) => {
      const { id } = granted(state, anAsk(`at ${at}`, { delay: fixed(1_000) }), at);
      release(state, { leaseId: id, use: startedNow(responseClass, { durationMs }) }, at, middle);
    };
    serve(40_000, 'ok', NOON + 60_000);
    serve(1, 'not-found', NOON + 120_000);
    serve(1, 'broken', NOON + 180_000);
    // The first took no time; each further response has a weight of a fifth.
    expect(state.stats.averageDurationMs).toBe(8_000);
    const at = NOON + 180_000;
    ask(state, anAsk('adaptive', { delay: fixed(1_000), targetConcurrency: 2 }), at, middle);
    expect(view(state, at)).toMatchObject({ gapMs: 4_000, gapReason: 'latency', nextGrantAt: at + 4_000 });
    expect(ticked(state, at + 3_699)).toEqual([]);
    expect(tickedOne(state, at + 3_700)).toMatchObject({ minGapMs: 4_000, notBefore: at + 4_000 });
  });

  test('the delay, however fast the site responds', () => {
    const state = startedAtNoon({ delay: fixed(10_000) });
    expect(granted(state, anAsk('adaptive', { targetConcurrency: 8 }), NOON + 10_000).minGapMs).toBe(10_000);
  });

  test('the backoff', () => {
    const state = openThrottle();
    const { id } = granted(state, anAsk('first'), NOON);
    const use = startedNow('overloaded');
    release(state, { leaseId: id, use }, NOON, middle);
    expect(granted(state, anAsk('next'), NOON + 20_000).minGapMs).toBe(20_000);
  });
});

test('a report out of order does not cut short the delay after an earlier request', () => {
  const state = startedAtNoon({ delay: fixed(0) });
  const [late] = state.finished;
  const slow = granted(state, anAsk('slow', { delay: fixed(20_000) }), NOON + 20_000);
  const use = startedNow();
  release(state, { leaseId: slow.id, use }, NOON + 20_000, middle);
  release(state, { leaseId: late?.id ?? '', use }, NOON + 21_000, middle);
  const next = ask(state, anAsk('next', { delay: fixed(0) }), NOON + 22_000, middle);
  expect(next.kind).toBe('queued');
  expect(tick(state, NOON + 22_000, middle).wakeAt).toBe(NOON + 41_000 - CONFIG.grantLeadMs);
});

describe('a lease names the request it follows', () => {
  const started = startedNow();

  test('if only that request delays it', () => {
    const state = openThrottle();
    const first = granted(state, anAsk('first'), NOON);
    expect(first).not.toHaveProperty('follows');
    release(state, { leaseId: first.id, use: started }, NOON, middle);
    expect(granted(state, anAsk('next'), NOON + 10_000).follows).toBe(first.id);
  });

  test('but not if an unreported request may have been the last', () => {
    const state = openThrottle();
    const first = granted(state, anAsk('first'), NOON);
    release(state, { leaseId: first.id, use: { kind: 'lost' } }, NOON, middle);
    expect(granted(state, anAsk('next'), NOON + 60_000)).not.toHaveProperty('follows');
  });

  test('but not if a Retry-After ends later than the gap', () => {
    const state = openThrottle();
    const first = granted(state, anAsk('first'), NOON);
    const use = { ...started, responseClass: 'overloaded', retryAfterMs: 30_000 } as const;
    release(state, { leaseId: first.id, use }, NOON, middle);
    const { blockedUntil } = state;
    const ahead = (blockedUntil ?? 0) - CONFIG.grantLeadMs;
    expect(granted(state, anAsk('next'), ahead)).toMatchObject({ notBefore: blockedUntil });
    expect(state.leases[0]?.lease).not.toHaveProperty('follows');
  });

  describe('but not if two requests may have started in either order', () => {
    const overrides = { delay: fixed(0), concurrency: 3 };
    const two = () => {
      const state = openThrottle();
      const leases = ['one', 'other'].map((ticket) => granted(state, anAsk(ticket, overrides), NOON).id);
      return { state, leases };
    };

    test('and both were reported', () => {
      const { state, leases } = two();
      for (const leaseId of leases) release(state, { leaseId, use: started }, NOON + 20, middle);
      expect(granted(state, anAsk('next', overrides), NOON + 50)).not.toHaveProperty('follows');
    });

    test('and one is still in flight', () => {
      const { state, leases } = two();
      release(state, { leaseId: leases[0] ?? '', use: started }, NOON + 20, middle);
      expect(granted(state, anAsk('next', overrides), NOON + 50)).not.toHaveProperty('follows');
    });
  });
});

test('of too many Crawl-delays the longest are kept', () => {
  const state = startedAtNoon();
  for (let n = 1; n <= 40; n += 1) {
    const crawlDelay = { origin: `https://h${n}.example.org`, delayMs: n * 1_000 };
    release(state, { leaseId: 'any', use: { kind: 'unused' }, crawlDelay }, NOON, middle);
  }
  expect(Object.values(state.crawlDelays)).toHaveLength(16);
  expect(Math.max(...Object.values(state.crawlDelays))).toBe(40_000);
});

describe('a delay that is a range', () => {
  test('is drawn once per gap, however often the throttle ticks', () => {
    fc.assert(
      fc.property(
        fc.array(fc.double({ min: 0, max: 0.999, noNaN: true }), { minLength: 40, maxLength: 40 }),
        (draws) => {
          const state = startedAtNoon({ delay: { minMs: 5_000, maxMs: 15_000 } });
          const [first = 0] = draws;
          let n = 0;
          const random = () => draws[n++ % draws.length] ?? 0;
          ask(state, anAsk('waiting', { delay: { minMs: 5_000, maxMs: 15_000 } }), NOON, random);
          for (let now = NOON; state.leases.length === 0; now += 500) tick(state, now, random);
          expect(state.leases[0]?.lease.minGapMs).toBe(Math.ceil(5_000 + first * 10_000));
          expect(n).toBe(1);
        },
      ),
    );
  });

  test('is drawn again for the next gap', () => {
    const state = startedAtNoon({ delay: { minMs: 5_000, maxMs: 15_000 } });
    const overrides = { delay: { minMs: 5_000, maxMs: 15_000 } };
    const draws = [0.1, 0.9];
    const random = () => draws.shift() ?? 0;
    const gaps = ['a', 'b'].map((ticket, n) => {
      const answer = ask(state, anAsk(ticket, overrides), NOON + (n + 1) * 100_000, random);
      if (answer.kind !== 'granted') throw new Error('both come long after the gap');
      release(state, { leaseId: answer.lease.id, use: { kind: 'unused' } }, answer.now, random);
      return answer.lease.minGapMs;
    });
    expect(gaps).toEqual([6_000, 14_000]);
  });
});
