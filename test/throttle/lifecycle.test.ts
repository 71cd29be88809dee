import { describe, expect, test } from 'vitest';
import { emptyStats, type StoredDomain } from '../../src/core/slot-protocol.ts';
import {
  ask,
  idleAt,
  isIdle,
  newThrottle,
  open,
  parseOperatorDelay,
  pause,
  release,
  replan,
  reset,
  resume,
  rulesOf,
  slotOf,
  toStoredDomain,
  view,
} from '../../src/throttle/index.ts';
import { nextSlotAt } from '../../src/throttle/view.ts';
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

const ROW: StoredDomain = {
  validFrom: 0,
  minGapMs: 0,
  delay: null,
  paused: false,
  backoffMs: 0,
  blockedUntil: null,
  crawlDelays: {},
  outages: {},
  stats: emptyStats(),
};

function reopened(row: Partial<StoredDomain>) {
  const state = newThrottle('example.org', CONFIG);
  open(state, reading({ ...ROW, ...row }), NOON);
  return state;
}

describe('a new execution', () => {
  test('knows what the previous one learned', () => {
    const row = {
      delay: fixed(7),
      paused: true,
      backoffMs: 8,
      blockedUntil: NOON + 9,
      crawlDelays: { 'https://a': 9 },
      validFrom: 4,
    };
    expect(toStoredDomain(reopened(row))).toMatchObject({ ...row, minGapMs: 9 });
  });

  test('knows the site’s latency and its recent responses', () => {
    const before = openThrottle();
    for (const [n, responseClass] of (['ok', 'overloaded'] as const).entries()) {
      const now = NOON + n * 10_000;
      const { id } = granted(before, anAsk(`r${n}`), now);
      const use = startedNow(responseClass, { durationMs: 250 });
      release(before, { leaseId: id, use }, now, middle);
    }
    const next = newThrottle('example.org', CONFIG);
    open(next, reading(toStoredDomain(before)), NOON + 60_000);
    expect(view(next, NOON + 60_000)).toMatchObject({
      recent: { requests: 2, failures: 1 },
      stats: { started: 2, averageDurationMs: 250, recentResponses: ['ok', 'overloaded'] },
    });
  });

  test('grants leases that the gate does not take for older ones', () => {
    const outage = { since: NOON, until: NOON, failures: 1, error: 'Refused.', validFrom: 9_000 };
    const lease = granted(reopened({ validFrom: 4, outages: { [ORIGIN]: outage } }), anAsk('t'), NOON);
    expect(lease.version).toBe(9_000);
  });

  test('makes leases void that an execution granted which ended before it stored their version', () => {
    const before = openThrottle();
    const first = granted(before, anAsk('first'), NOON);
    const use = { ...startedNow('overloaded'), retryAfterMs: 1_000 };
    release(before, { leaseId: first.id, use }, NOON, middle);
    const unstored = granted(before, anAsk('unstored'), NOON + 5_000);
    const after = newThrottle('example.org', CONFIG);
    open(after, { stored: null, epoch: 2 }, NOON + 6_000);
    const next = granted(after, anAsk('next'), NOON + 6_000);
    release(after, { leaseId: next.id, use }, NOON + 6_000, middle);
    expect(unstored.version).toBeLessThan(rulesOf(after).validFrom);
  });

  test('never reuses a lease id', () => {
    const ids = [NOON, NOON + 1].map((now) => {
      const state = newThrottle('example.org', CONFIG);
      open(state, reading(null), now);
      return granted(state, anAsk('t'), now).id;
    });
    expect(new Set(ids).size).toBe(2);
  });
});

describe('a throttle ends', () => {
  test('only when it has been idle for long after its last lease and its gap', () => {
    const state = reopened({ crawlDelays: { [ORIGIN]: 20_000 } });
    const lease = granted(state, anAsk('t'), NOON);
    expect(idleAt(state)).toBe(lease.startBy + 60_000 + CONFIG.idleTimeoutMs);
    release(state, { leaseId: lease.id, use: startedNow() }, NOON, middle);
    expect(idleAt(state)).toBe(NOON + 20_000 + CONFIG.idleTimeoutMs);
    expect(isIdle(state, NOON + 20_000 + CONFIG.idleTimeoutMs)).toBe(true);
  });

  test('neither while pages wait, nor while it is paused, nor before a Retry-After is over', () => {
    const state = openThrottle({ maxReserved: 0 });
    expect(isIdle(state, NOON + CONFIG.idleTimeoutMs)).toBe(true);
    pause(state);
    expect(idleAt(state)).toBeNull();
    resume(state);
    state.blockedUntil = NOON + 5_000_000;
    expect(idleAt(state)).toBe(NOON + 5_000_000 + CONFIG.idleTimeoutMs);
    const waiting = (() => {
      granted(state, anAsk('first'), NOON);
      return ask(state, anAsk('waiting'), NOON, middle);
    })();
    expect(idleAt(state)).toBeGreaterThanOrEqual(waiting.kind === 'later' ? waiting.retryAt : Infinity);
  });
});

describe('the operator', () => {
  test('gets an error for an invalid delay', () => {
    const errorFor = (raw: unknown) => {
      const read = parseOperatorDelay(raw);
      return read.ok ? null : read.reason;
    };
    expect(errorFor('soon')).toMatch(/^The delay "soon" is invalid: use a duration such as "30s", /);
    expect(errorFor(undefined)).toMatch(/^The delay is missing: /);
    for (const bad of [30, '30', '15s-5s', '2d', fixed(-1), fixed(Number.NaN), fixed(1.5), {}, [1], true]) {
      expect(errorFor(bad)).not.toBeNull();
    }
  });

  test('gives a delay as a duration, a range, an object, or null for none', () => {
    const range = { minMs: 5_000, maxMs: 15_000 };
    expect(parseOperatorDelay('30s')).toEqual({ ok: true, delay: fixed(30_000) });
    expect(parseOperatorDelay('5s-15s')).toEqual({ ok: true, delay: range });
    expect(parseOperatorDelay(range)).toEqual({ ok: true, delay: range });
    expect(parseOperatorDelay(null)).toEqual({ ok: true, delay: null });
  });

  test('resets what the domain has learned, except its Crawl-delay', () => {
    const state = reopened({
      backoffMs: 60_000,
      blockedUntil: NOON + 500_000,
      outages: {
        [ORIGIN]: { since: NOON, until: NOON + 500_000, failures: 3, error: 'Refused.', validFrom: 2 },
      },
      stats: { ...emptyStats(), granted: 9, averageDurationMs: 800, recentResponses: ['ok' as const] },
      delay: fixed(50_000),
      paused: true,
      crawlDelays: { [ORIGIN]: 20_000 },
    });
    reset(state, NOON);
    expect(toStoredDomain(state)).toMatchObject({
      minGapMs: 20_000,
      backoffMs: 0,
      blockedUntil: null,
      outages: {},
      delay: null,
      paused: false,
      crawlDelays: { [ORIGIN]: 20_000 },
      stats: { granted: 9, averageDurationMs: null, recentResponses: [] },
    });
  });

  test('takes back the slots that are not due yet, and their pages and those that wait ask again', () => {
    const state = openThrottle({ maxReserved: 1 });
    for (const ticket of ['due', 'later', 'waiting']) ask(state, anAsk(ticket), NOON, middle);
    expect(replan(state, NOON)).toEqual(['page-later', 'page-waiting']);
    expect(state.leases.map(({ lease }) => lease.ticket)).toEqual(['due']);
    expect(state.waiting).toEqual([]);
    expect(state.stats).toMatchObject({ unused: 1, active: 1 });
  });

  test('sees the reserved slots, and how many pages have none', () => {
    const state = openThrottle({ maxReserved: 1 });
    for (const ticket of ['a', 'b', 'c']) ask(state, anAsk(ticket), NOON, middle);
    expect(view(state, NOON)).toMatchObject({
      domain: 'example.org',
      phase: 'open',
      gapMs: 10_000,
      gapReason: 'crawl',
      reserved: 2,
      leases: [{ workflowId: 'page-a' }, { workflowId: 'page-b' }],
      waiting: 1,
    });
    const readAt = (ms: number) => nextSlotAt(view(state, NOON), new Date(NOON + ms));
    expect([0, 9_999, 10_000].map(readAt)).toEqual([NOON + 10_000, NOON + 10_000, null]);
    expect(slotOf(state, 'page-b')).toMatchObject({ kind: 'granted', notBefore: NOON + 10_000 });
    expect(slotOf(state, 'page-c')).toMatchObject({ kind: 'waiting', position: 1, of: 1 });
    expect(slotOf(state, 'page-d')).toEqual({ kind: 'absent' });
  });
});
