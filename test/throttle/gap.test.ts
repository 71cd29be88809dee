import { describe, expect, test } from 'vitest';
import type { Ask, Release, ResponseClass } from '../../src/core/slot-protocol.ts';
import { ask, release, rulesOf, setDelay, view } from '../../src/throttle/index.ts';
import { anAsk, CONFIG, fixed, granted, middle, NOON, openThrottle, startedNow } from './support.ts';

/** The last request, of a crawl with this delay, started at noon. */
function startedAtNoon(overrides: Partial<Ask> = {}, crawlDelay?: NonNullable<Release['crawlDelay']>) {
  const state = openThrottle();
  const { id } = granted(state, anAsk('first', overrides), NOON);
  const use = startedNow();
  release(state, { leaseId: id, use, ...(crawlDelay ? { crawlDelay } : {}) }, NOON, middle);
  return state;
}

const origin = 'https://example.org';
const setCrawlDelay = (state: ReturnType<typeof openThrottle>, delayMs: number | null) =>
  release(state, { leaseId: 'any', use: { kind: 'unused' }, crawlDelay: { origin, delayMs } }, NOON, middle);

describe('the gap is the longest of', () => {
  test('the delay of the crawl', () => {
    const state = startedAtNoon({ delay: fixed(1_000) });
    const lease = granted(state, anAsk('other', { delay: fixed(30_000) }), NOON);
    expect(lease).toMatchObject({ minGapMs: 30_000, notBefore: NOON + 30_000 });
  });

  test('the operator’s delay for the domain', () => {
    const state = startedAtNoon();
    setDelay(state, fixed(40_000));
    expect(granted(state, anAsk('next'), NOON).minGapMs).toBe(40_000);
    expect(rulesOf(state).minGapMs).toBe(40_000);
    setDelay(state, null);
    expect(granted(state, anAsk('last'), NOON).minGapMs).toBe(10_000);
  });

  test('the longest Crawl-delay of the domain’s origins, up to a limit', () => {
    const state = startedAtNoon({}, { origin, delayMs: 20_000 });
    expect(granted(state, anAsk('a'), NOON).minGapMs).toBe(20_000);
    setCrawlDelay(state, 1e9);
    expect(granted(state, anAsk('b', { atFront: true }), NOON).minGapMs).toBe(CONFIG.maxCrawlDelayMs);
    setCrawlDelay(state, null);
    expect(granted(state, anAsk('c', { atFront: true }), NOON).minGapMs).toBe(10_000);
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
    const adaptive = anAsk('adaptive', { delay: fixed(1_000), targetConcurrency: 2 });
    expect(granted(state, adaptive, at)).toMatchObject({ minGapMs: 4_000, notBefore: at + 4_000 });
    expect(view(state, at)).toMatchObject({ gapMs: 4_000, gapReason: 'latency' });
  });

  test('the delay, however fast the site responds', () => {
    const state = startedAtNoon({ delay: fixed(10_000) });
    expect(granted(state, anAsk('adaptive', { targetConcurrency: 8 }), NOON + 10_000).minGapMs).toBe(10_000);
  });

  test('the backoff', () => {
    const state = openThrottle();
    const { id } = granted(state, anAsk('first'), NOON);
    release(state, { leaseId: id, use: startedNow('overloaded') }, NOON, middle);
    expect(granted(state, anAsk('next'), NOON + 20_000).minGapMs).toBe(20_000);
    expect(rulesOf(state).minGapMs).toBe(20_000);
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

test('a delay that is a range is drawn for each slot', () => {
  const state = startedAtNoon();
  const draws = [0.1, 0.9];
  const gaps = ['a', 'b'].map((ticket) => {
    const answer = ask(
      state,
      anAsk(ticket, { delay: { minMs: 5_000, maxMs: 15_000 } }),
      NOON,
      () => draws.shift() ?? 0,
    );
    return answer.kind === 'granted' ? answer.lease.minGapMs : null;
  });
  expect(gaps).toEqual([6_000, 14_000]);
});
