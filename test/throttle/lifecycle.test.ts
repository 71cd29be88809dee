import { describe, expect, test } from 'vitest';
import { emptyStats, type StoredDomain } from '../../src/core/slot-protocol.ts';
import {
  ask,
  beginPersist,
  boundsTooNarrow,
  close,
  endPersist,
  idleAt,
  isIdle,
  mayEnd,
  newThrottle,
  open,
  parseOperatorDelay,
  pause,
  release,
  reset,
  resume,
  setDelay,
  type ThrottleState,
  tick,
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
  ticked,
  tickedOne,
} from './support.ts';

const ROW: StoredDomain = {
  clean: true,
  lastStart: NOON - 4_000,
  maxGapMs: 10_000,
  maxStartWindowMs: 40_000,
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
  ask(state, anAsk('first', { delay: fixed(1_000) }), NOON, middle);
  open(state, reading({ ...ROW, ...row }), NOON);
  return state;
}

describe('a new execution', () => {
  test('grants at once for a new domain', () => {
    const state = newThrottle('example.org', CONFIG);
    ask(state, anAsk('first'), NOON, middle);
    open(state, reading(null), NOON + 5);
    expect(tickedOne(state, NOON + 5).notBefore).toBe(NOON + 5);
  });

  test('keeps the gap to the last start of the previous one', () => {
    expect(tickedOne(reopened({}), NOON + 6_000).notBefore).toBe(NOON + 6_000);
  });

  test('after a crash waits for the longest lease that may still be held', () => {
    const state = reopened({ clean: false, lastStart: null });
    const due = NOON + CONFIG.grantLeadMs + ROW.maxStartWindowMs + ROW.maxGapMs;
    expect(tick(state, NOON, middle).wakeAt).toBe(due - CONFIG.grantLeadMs);
    expect(tickedOne(state, due).notBefore).toBe(due);
  });

  test('knows what the previous one learned', () => {
    const row = {
      delay: fixed(7),
      paused: true,
      backoffMs: 8,
      blockedUntil: NOON + 9,
      crawlDelays: { 'https://a': 9 },
    };
    expect(toStoredDomain(reopened(row), false)).toMatchObject(row);
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
    open(next, reading(toStoredDomain(before, true)), NOON + 60_000);
    expect(view(next, NOON + 60_000)).toMatchObject({
      recent: { requests: 2, failures: 1 },
      stats: { started: 2, averageDurationMs: 250, recentResponses: ['ok', 'overloaded'] },
    });
  });

  test('keeps what the operator changed while the row was read', () => {
    const state = newThrottle('example.org', CONFIG);
    pause(state);
    setDelay(state, fixed(20_000));
    open(state, reading(ROW), NOON);
    expect(state).toMatchObject({ paused: true, operatorDelay: fixed(20_000) });
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
  test('only when it has been idle for long after its gap', () => {
    const state = reopened({});
    const lease = tickedOne(state, NOON + 6_000);
    expect(idleAt(state)).toBeNull();
    const use = startedNow();
    release(state, { leaseId: lease.id, use }, NOON + 6_000, middle);
    expect(idleAt(state)).toBe(NOON + 7_000 + CONFIG.idleTimeoutMs);
    expect(isIdle(state, NOON + 7_000 + CONFIG.idleTimeoutMs)).toBe(true);
    expect(toStoredDomain(state, true)).toMatchObject({
      clean: true,
      lastStart: NOON + 6_000,
      maxGapMs: 1_000,
    });
  });

  test('neither while pages are queued, nor while it is paused, nor before a Retry-After is over', () => {
    const state = openThrottle();
    expect(isIdle(state, NOON + CONFIG.idleTimeoutMs)).toBe(true);
    pause(state);
    expect(idleAt(state)).toBeNull();
    resume(state);
    state.blockedUntil = NOON + 50_000;
    expect(idleAt(state)).toBe(NOON + 50_000 + CONFIG.idleTimeoutMs);
    ask(state, anAsk('waiting'), NOON, middle);
    expect(idleAt(state)).toBeNull();
  });

  test('only if no page asked while the final row was written, and otherwise continues with its state', () => {
    const state = reopened({ stats: { ...emptyStats(), granted: 7, withdrawn: 2 } });
    const lease = tickedOne(state, NOON + 6_000);
    const use = startedNow();
    release(state, { leaseId: lease.id, use }, NOON + 6_000, middle);
    close(state);
    const row = toStoredDomain(state, true);
    expect(mayEnd(state)).toBe(true);

    expect(ask(state, anAsk('latecomer'), NOON + 1_000_000, middle).kind).toBe('queued');
    expect(mayEnd(state)).toBe(false);
    const before = { stats: { ...state.stats }, lastStart: state.lastStart };
    open(state, reading(row), NOON + 1_000_000);
    expect(state).toMatchObject(before);
    expect(ticked(state, NOON + 1_000_000)).toHaveLength(1);
  });

  test('only after it has persisted an operator’s change that came while the final row was written', () => {
    const state = openThrottle();
    close(state);
    const row = toStoredDomain(state, true);
    pause(state);
    expect(mayEnd(state)).toBe(false);
    open(state, reading(row), NOON);
    expect(state.paused).toBe(true);
  });

  test('with a row in which leases still held count as started at their startBy', () => {
    const state = openThrottle();
    const lease = granted(state, anAsk('out', { delay: { minMs: 1, maxMs: 30_000 } }), NOON);
    expect(toStoredDomain(state, false)).toMatchObject({ lastStart: lease.startBy, maxGapMs: 30_000 });
  });
});

describe('the operator', () => {
  test('pauses the domain from the next grant, and resumes it where it was', () => {
    const state = openThrottle();
    pause(state);
    expect(ask(state, anAsk('waiting'), NOON, middle).kind).toBe('queued');
    expect(tick(state, NOON + 1_000, middle)).toEqual({ grants: [], wakeAt: null });
    resume(state);
    expect(ticked(state, NOON + 2_000)).toHaveLength(1);
  });

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

  test('resets what the domain has learned, except its last start and its Crawl-delay', () => {
    const learned = {
      backoffMs: 60_000,
      blockedUntil: NOON + 500_000,
      outages: { [ORIGIN]: { since: NOON, until: NOON + 500_000, failures: 3, error: 'Refused.' } },
      stats: { ...emptyStats(), granted: 9, averageDurationMs: 800, recentResponses: ['ok' as const] },
      delay: fixed(50_000),
      paused: true,
      crawlDelays: { [ORIGIN]: 20_000 },
    };
    const afterReset = (state: ThrottleState) => {
      expect(toStoredDomain(state, true)).toMatchObject({
        backoffMs: 0,
        blockedUntil: null,
        outages: {},
        delay: null,
        paused: false,
        crawlDelays: { [ORIGIN]: 20_000 },
        lastStart: ROW.lastStart,
        stats: { granted: 9, averageDurationMs: null, recentResponses: [] },
      });
      expect(ticked(state, NOON + 15_999 - CONFIG.grantLeadMs)).toEqual([]);
      expect(tickedOne(state, NOON + 16_000).minGapMs).toBe(20_000);
    };
    const late = reopened(learned);
    expect(ticked(late, NOON + 16_000)).toEqual([]);
    reset(late);
    afterReset(late);

    const early = newThrottle('example.org', CONFIG);
    ask(early, anAsk('first', { delay: fixed(1_000) }), NOON, middle);
    reset(early);
    open(early, reading({ ...ROW, ...learned }), NOON);
    afterReset(early);
  });

  test('sees why the next page waits, and until when', () => {
    const state = reopened({
      crawlDelays: { 'https://example.org': 30_000 },
      stats: { ...emptyStats(), started: 4 },
    });
    for (const ticket of ['a', 'b']) ask(state, anAsk(ticket), NOON, middle);
    expect(view(state, NOON)).toMatchObject({
      domain: 'example.org',
      phase: 'open',
      gapMs: 30_000,
      gapReason: 'crawl-delay',
      nextGrantAt: NOON + 26_000,
      waiting: 3,
      next: [{ workflowId: 'page-first' }, { workflowId: 'page-a' }, { workflowId: 'page-b' }],
      leases: [],
      stats: { started: 4 },
    });
    pause(state);
    expect(view(state, NOON)).toMatchObject({ phase: 'paused', nextGrantAt: null });
  });
});

describe('the persisted bounds', () => {
  const openWithin = (maxStartWindowMs: number, maxGapMs: number) => {
    const state = newThrottle('example.org', CONFIG);
    open(state, { ...reading(null), persistedBounds: { maxStartWindowMs, maxGapMs } }, NOON);
    return state;
  };

  test('delay a ticket with a longer delay until that is persisted', () => {
    const state = openWithin(CONFIG.startWindowMs, 1_000);
    expect(ask(state, anAsk('patient', { delay: fixed(5_000) }), NOON, middle).kind).toBe('queued');
    expect(ticked(state, NOON)).toEqual([]);
    expect(boundsTooNarrow(state)).toBe(true);
    endPersist(state, toStoredDomain(state, false));
    expect(boundsTooNarrow(state)).toBe(false);
    expect(ticked(state, NOON)).toHaveLength(1);
  });

  test('limit the start window until a longer one is persisted', () => {
    const state = openWithin(CONFIG.startWindowMs, 10_000);
    state.grantToStartMs = 10_000;
    const first = granted(state, anAsk('first'), NOON);
    expect(first.startBy - first.notBefore).toBe(CONFIG.startWindowMs);
    expect(boundsTooNarrow(state)).toBe(true);
    endPersist(state, toStoredDomain(state, false));
    release(state, { leaseId: first.id, use: { kind: 'unused' } }, NOON, middle);
    const second = granted(state, anAsk('second'), NOON);
    expect(second.startBy - second.notBefore).toBe(40_000);
  });

  test('are the narrower of old and new during a write', () => {
    const state = openWithin(60_000, 10_000);
    beginPersist(state, { ...toStoredDomain(state, false), maxGapMs: 20_000, maxStartWindowMs: 30_000 });
    expect(state.persistedBounds).toEqual({ maxGapMs: 10_000, maxStartWindowMs: 30_000 });
  });

  test('cover every lease that is held', () => {
    const state = openWithin(CONFIG.maxStartWindowMs, 30_000);
    state.grantToStartMs = 50_000;
    const lease = granted(state, anAsk('long', { delay: fixed(30_000) }), NOON);
    state.grantToStartMs = 1;
    const row = toStoredDomain(state, false);
    expect(row.maxStartWindowMs).toBeGreaterThanOrEqual(lease.startBy - lease.notBefore);
    expect(row.maxGapMs).toBe(30_000);
  });
});
