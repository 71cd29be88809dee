import { describe, expect, test } from 'vitest';
import type { Lease, LeaseUse, ThrottleConfig } from '../../src/core/slot-protocol.ts';
import {
  ask,
  boundsTooNarrow,
  endPersist,
  release,
  reportStarted,
  reportUndelivered,
  tick,
  toStoredDomain,
} from '../../src/throttle/index.ts';
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

const startedAgo = (agoMs: number): Extract<LeaseUse, { kind: 'started' }> => ({
  kind: 'started',
  agoMs,
  latestAt: null,
  durationMs: agoMs,
  responseClass: 'ok',
});

/** One page has held a lease since noon, and another one is queued. */
function oneHeldOneQueued(overrides: Parameters<typeof anAsk>[1] = {}) {
  const state = openThrottle();
  const lease = granted(state, anAsk('first', overrides), NOON);
  expect(ask(state, anAsk('second', overrides), NOON, middle).kind).toBe('queued');
  return { state, lease };
}

describe('a lease', () => {
  test('has a start window, and expires one maximal fetch after it', () => {
    const { lease } = oneHeldOneQueued();
    expect(lease).toMatchObject({
      notBefore: NOON,
      startBy: NOON + CONFIG.startWindowMs,
      expiresAt: NOON + CONFIG.startWindowMs + 60_000,
      minGapMs: 10_000,
    });
  });

  test('without a report counts as started at its startBy', () => {
    const { state, lease } = oneHeldOneQueued({ delay: fixed(90_000) });
    expect(ticked(state, lease.expiresAt)).toEqual([]);
    expect(tickedOne(state, lease.startBy + 90_000).notBefore).toBe(lease.startBy + 90_000);
    expect(state.stats.lost).toBe(1);
  });

  test('wakes the throttle when it expires', () => {
    const { state, lease } = oneHeldOneQueued();
    expect(tick(state, NOON, middle)).toEqual({ grants: [], wakeAt: lease.expiresAt });
  });

  test('that is lost ends at once and counts as started at its startBy', () => {
    const { state, lease } = oneHeldOneQueued();
    release(state, { leaseId: lease.id, use: { kind: 'lost' } }, NOON + 1_000, middle);
    expect(tick(state, NOON + 1_000, middle)).toEqual({
      grants: [],
      wakeAt: lease.startBy + 10_000 - CONFIG.grantLeadMs,
    });
    expect(tickedOne(state, lease.startBy + 10_000).notBefore).toBe(lease.startBy + 10_000);
  });

  test('that was not used does not change the last start', () => {
    const { state, lease } = oneHeldOneQueued();
    release(state, { leaseId: lease.id, use: { kind: 'unused' } }, NOON + 1_000, middle);
    expect(tickedOne(state, NOON + 1_000).notBefore).toBe(NOON + 1_000);
  });

  test('is followed by the next one a gap after its actual start, not after the grant or the report', () => {
    const { state, lease } = oneHeldOneQueued();
    release(state, { leaseId: lease.id, use: startedAgo(3_000) }, NOON + 7_000, middle);
    expect(ticked(state, NOON + 14_000 - CONFIG.grantLeadMs - 1)).toEqual([]);
    expect(tickedOne(state, NOON + 14_000 - CONFIG.grantLeadMs).notBefore).toBe(NOON + 14_000);
  });

  test.each([
    ['before its lease', 7_001],
    ['in the future', -1],
    ['not a number', Number.NaN],
  ])('with an agoMs that puts its start %s counts as started now', (_case, agoMs) => {
    const { state, lease } = oneHeldOneQueued();
    release(state, { leaseId: lease.id, use: startedAgo(agoMs) }, NOON + 7_000, middle);
    expect(state.lastStart?.at).toBe(NOON + 7_000);
  });

  test('counts from the time of its worker, if that is earlier than the report suggests', () => {
    const { state, lease } = oneHeldOneQueued();
    release(
      state,
      { leaseId: lease.id, use: { ...startedAgo(3_000), latestAt: NOON + 3_900 } },
      NOON + 7_000,
      middle,
    );
    expect(state.lastStart?.at).toBe(NOON + 3_900);
  });

  test.each([
    ['before its lease', NOON - 1],
    ['in the future', NOON + 7_001],
    ['later than agoMs allows', NOON + 4_001],
    ['not a number', Number.NaN],
  ])('with a latestAt that is %s counts as started agoMs before its report', (_case, latestAt) => {
    const { state, lease } = oneHeldOneQueued();
    release(state, { leaseId: lease.id, use: { ...startedAgo(3_000), latestAt } }, NOON + 7_000, middle);
    expect(state.lastStart?.at).toBe(NOON + 4_000);
  });

  test('is followed at once if there is no delay', () => {
    const { state, lease } = oneHeldOneQueued({ delay: fixed(0) });
    expect(ticked(state, NOON + 100)).toEqual([]);
    release(state, { leaseId: lease.id, use: startedAgo(40) }, NOON + 100, middle);
    expect(tickedOne(state, NOON + 100).notBefore).toBe(NOON + 100);
  });

  test('reported late can only move the last start later', () => {
    const { state, lease } = oneHeldOneQueued();
    tick(state, lease.expiresAt, middle);
    const before = structuredClone(state);
    const use: LeaseUse = { ...startedAgo(20), responseClass: 'overloaded', retryAfterMs: 5_000 };
    release(state, { leaseId: lease.id, use }, lease.expiresAt + 10, middle);
    expect(state).toEqual({ ...before, lastStart: { ...before.lastStart, at: lease.expiresAt - 10 } });
    release(state, { leaseId: lease.id, use: startedAgo(30_000) }, lease.expiresAt + 20, middle);
    expect(state.lastStart?.at).toBe(lease.expiresAt - 10);
  });

  test('released twice counts once', () => {
    const { state, lease } = oneHeldOneQueued();
    const report = { leaseId: lease.id, use: startedAgo(1_000) };
    release(state, report, NOON + 2_000, middle);
    const once = structuredClone(state);
    release(state, report, NOON + 2_000, middle);
    expect(state).toEqual(once);
  });

  test('of a closed page is unused, and the next page gets the slot', () => {
    const { state, lease } = oneHeldOneQueued();
    release(state, { leaseId: lease.id, use: { kind: 'unused' } }, NOON, middle);
    const second = tickedOne(state, NOON);
    reportUndelivered(state, second.id, NOON + 50);
    expect(state.stats.unused).toBe(2);
    expect(granted(state, anAsk('third'), NOON + 50).notBefore).toBe(NOON + 50);
  });

  test('of a closed page is lost if it was also the answer to an ask', () => {
    const { state, lease } = oneHeldOneQueued();
    release(state, { leaseId: lease.id, use: { kind: 'unused' } }, NOON, middle);
    const second = tickedOne(state, NOON);
    expect(granted(state, anAsk('second'), NOON + 10)).toEqual(second);
    reportUndelivered(state, second.id, NOON + 50);
    expect(state.lastStart?.at).toBe(second.startBy);
  });

  test('of a previous execution moves the last start when it is reported', () => {
    const state = openThrottle();
    release(state, { leaseId: 'example.org/former/7', use: startedAgo(500) }, NOON + 2_000, middle);
    expect(granted(state, anAsk('first'), NOON + 11_400).notBefore).toBe(NOON + 11_500);
  });
});

describe('with concurrency above 1', () => {
  const overrides = { concurrency: 2, delay: fixed(1_000) };

  test('starts still keep the gap, and an unreported lease counts as starting at its startBy', () => {
    const { state, lease } = oneHeldOneQueued(overrides);
    expect(lease.startBy).toBe(NOON + CONFIG.parallelStartWindowMs);
    const second = tickedOne(state, lease.startBy + 1_000 - CONFIG.grantLeadMs);
    expect(second.notBefore).toBe(lease.startBy + 1_000);
    expect(state.leases).toHaveLength(2);
  });

  test('a reported start lets the next request start earlier', () => {
    const { state, lease } = oneHeldOneQueued(overrides);
    reportStarted(state, lease.id, { agoMs: 50, latestAt: null }, NOON + 150);
    expect(tickedOne(state, NOON + 900).notBefore).toBe(NOON + 1_100);
  });

  test('a lease reported as started and then as unused counts as started', () => {
    const { state, lease } = oneHeldOneQueued(overrides);
    reportStarted(state, lease.id, { agoMs: 0, latestAt: null }, NOON + 500);
    release(state, { leaseId: lease.id, use: { kind: 'unused' } }, NOON + 600, middle);
    expect(tickedOne(state, NOON + 1_500).notBefore).toBe(NOON + 1_500);
    expect(state.stats).toMatchObject({ unused: 0, lost: 1 });
  });

  test('no more leases are held than the next ticket allows', () => {
    const { state, lease } = oneHeldOneQueued(overrides);
    reportStarted(state, lease.id, { agoMs: 0, latestAt: null }, NOON);
    tickedOne(state, NOON + 1_000);
    ask(state, anAsk('third', overrides), NOON + 1_000, middle);
    expect(ticked(state, NOON + 30_000)).toEqual([]);
    release(state, { leaseId: lease.id, use: startedAgo(30_000) }, NOON + 30_000, middle);
    expect(ticked(state, NOON + 30_000)).toHaveLength(1);
  });

  test('a page of a crawl with concurrency 1 waits until no lease is held', () => {
    const state = openThrottle();
    const lease = granted(state, anAsk('first', overrides), NOON);
    reportStarted(state, lease.id, { agoMs: 0, latestAt: null }, NOON);
    ask(state, anAsk('alone', { ...overrides, concurrency: 1 }), NOON, middle);
    expect(ticked(state, NOON + 30_000)).toEqual([]);
  });

  test('no lease is granted beside that of a crawl with concurrency 1', () => {
    const state = openThrottle();
    const alone = granted(state, anAsk('alone', { ...overrides, concurrency: 1 }), NOON);
    reportStarted(state, alone.id, { agoMs: 0, latestAt: null }, NOON);
    ask(state, anAsk('second', overrides), NOON, middle);
    expect(ticked(state, NOON + 30_000)).toEqual([]);
  });

  test('a connection made too late keeps the gap, but says nothing about the site', () => {
    const { state, lease } = oneHeldOneQueued(overrides);
    const tooLate = lease.startBy + 500;
    const use = startedNow('unknown');
    release(state, { leaseId: lease.id, use }, tooLate, middle);
    expect(tickedOne(state, tooLate + 1_000).notBefore).toBe(tooLate + 1_000);
    expect(state.stats.recentResponses).toEqual([]);
    expect(state.outages).toEqual({});
  });

  test('without a delay leases do not wait for each other', () => {
    const state = openThrottle();
    const starts = ['a', 'b'].map(
      (t) => granted(state, anAsk(t, { concurrency: 2, delay: fixed(0) }), NOON).notBefore,
    );
    expect(starts).toEqual([NOON, NOON]);
  });
});

describe('the start window', () => {
  const windowOf = ({ startBy, notBefore }: Lease) => startBy - notBefore;

  test('is four times the usual time from grant to start', () => {
    const state = openThrottle();
    const slow = granted(state, anAsk('slow'), NOON);
    release(state, { leaseId: slow.id, use: startedAgo(0) }, NOON + 10_000, middle);
    expect(windowOf(granted(state, anAsk('next'), NOON + 20_000))).toBe(40_000);
  });

  test('grows when leases run out before their start, up to a limit', () => {
    const state = openThrottle({ maxStartWindowMs: 100_000 });
    const windows = [0, 1, 2].map((n) => {
      const lease = granted(state, anAsk(`t${n}`), NOON + n * 1_000_000);
      release(state, { leaseId: lease.id, use: { kind: 'unused' } }, lease.startBy + 1_000, middle);
      return windowOf(lease);
    });
    expect(windows).toEqual([15_000, 64_000, 100_000]);
  });

  describe('with concurrency above 1', () => {
    const overrides = { concurrency: 2, delay: fixed(0) };

    /** The start windows of four leases, if each connection takes this long. */
    function windows(connectingMs: number, config?: Partial<ThrottleConfig>): number[] {
      const state = openThrottle(config);
      return [0, 1, 2, 3].map((n) => {
        const lease = granted(state, anAsk(`t${n}`, overrides), NOON + n * 100_000);
        const use = startedNow('unknown');
        release(state, { leaseId: lease.id, use }, lease.notBefore + connectingMs, middle);
        return windowOf(lease);
      });
    }

    test('is short, or twice the usual time from grant to start if that is longer', () => {
      expect(windows(500)).toEqual([2_000, 2_000, 2_000, 2_000]);
      expect(windows(4_000)).toEqual([2_000, 8_000, 8_000, 8_000]);
    });

    test('grows up to a limit, and is never shorter than configured', () => {
      const shortest = { startWindowMs: 1_000 };
      expect(windows(4_000, { ...shortest, maxStartWindowMs: 5_000 }).at(-1)).toBe(5_000);
      expect(windows(4_000, { ...shortest, maxStartWindowMs: 1_000 }).at(-1)).toBe(2_000);
    });

    test('is persisted before it is granted', () => {
      const state = openThrottle({
        startWindowMs: 1_000,
        maxStartWindowMs: 9_000,
      });
      state.persistedBounds.maxStartWindowMs = 3_000;
      state.grantToStartMs = 4_000;
      expect(boundsTooNarrow(state)).toBe(true);
      const lease = granted(state, anAsk('early', overrides), NOON);
      expect(windowOf(lease)).toBe(3_000);
      endPersist(state, toStoredDomain(state, false));
      release(state, { leaseId: lease.id, use: { kind: 'unused' } }, NOON, middle);
      expect(windowOf(granted(state, anAsk('late', overrides), NOON))).toBe(8_000);
    });
  });
});
