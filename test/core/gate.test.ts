import { describe, expect, test } from 'vitest';
import {
  type Entry,
  enter,
  type Gate,
  type GateRules,
  lastStartOf,
  leave,
  NEW_GATE,
  type Reporter,
  started,
} from '../../src/core/gate.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const RULES: GateRules = { paused: false, minGapMs: 0, validFrom: 0, originsValidFrom: {} };
/** The gap, and the margin for the network. */
const GAP_MS = 10_004;
/** So much earlier a request may be let through. */
const EARLY_MS = 50;

function entry(leaseId: string, overrides: Partial<Entry> = {}): Entry {
  return {
    leaseId,
    passId: `run of ${leaseId}`,
    origin: 'https://example.org',
    version: 0,
    minGapMs: 10_000,
    delayAfterMs: 10_000,
    concurrency: 1,
    startWithinMs: 15_000,
    maxFetchMs: 60_000,
    repeatable: false,
    ...overrides,
  };
}

/** The run of the fetch that `entry` is about. */
function runOf(leaseId: string): Reporter {
  return { leaseId, passId: `run of ${leaseId}` };
}

function pageOf(leaseId: string): Reporter {
  return { leaseId, passId: null };
}

function entered(gate: Gate, one: Entry, now: number, rules = RULES): Gate {
  const verdict = enter(gate, rules, one, now);
  if (verdict.kind !== 'go') throw new Error(`${one.leaseId} should pass, but has to ${verdict.kind}`);
  return verdict.gate;
}

/** A request that passed at noon, started a second later and has ended. */
function startedAfterNoon(overrides: Partial<Entry> = {}): Gate {
  const gate = entered(NEW_GATE, entry('first', overrides), NOON);
  return leave(gate, runOf('first'), { kind: 'started', agoMs: 3_000 }, NOON + 4_000);
}

const START = NOON + 1_000;

describe('a request passes the gate', () => {
  test('at once if nothing was requested before', () => {
    expect(enter(NEW_GATE, RULES, entry('first'), NOON)).toMatchObject({ kind: 'go', gapMs: 10_000 });
  });

  test('when the gap since the start of the last one is over', () => {
    const late = START + GAP_MS + 1;
    expect(enter(startedAfterNoon(), RULES, entry('next'), late)).toMatchObject({ openedAt: late });
  });

  test('a moment before the gap is over, to start not a moment earlier', () => {
    const gate = startedAfterNoon();
    const early = START + GAP_MS - EARLY_MS;
    expect(enter(gate, RULES, entry('next'), early - 1)).toEqual({ kind: 'wait', ms: 1 });
    expect(enter(gate, RULES, entry('next'), early)).toMatchObject({
      openedAt: START + GAP_MS,
      gate: { open: [{ openedAt: START + GAP_MS, startBy: START + GAP_MS + 15_000 }] },
    });
  });

  test('after the delay of the crawl that sent the last one', () => {
    const gate = startedAfterNoon({ delayAfterMs: 30_000 });
    const next = entry('next', { minGapMs: 1_000 });
    expect(enter(gate, RULES, next, START + 20_004)).toEqual({ kind: 'wait', ms: 10_000 - EARLY_MS });
  });

  test('with the gap of its own crawl, even if the last one needed none', () => {
    const gate = startedAfterNoon({ minGapMs: 0, delayAfterMs: 0 });
    expect(enter(gate, RULES, entry('next'), START + 4)).toEqual({ kind: 'wait', ms: 10_000 - EARLY_MS });
  });

  test('with a gap that the throttle requires by now, although its lease has a shorter one', () => {
    const gate = startedAfterNoon();
    const rules = { ...RULES, minGapMs: 40_000 };
    expect(enter(gate, rules, entry('next'), START + GAP_MS)).toEqual({
      kind: 'wait',
      ms: 30_000 - EARLY_MS,
    });
    expect(enter(gate, rules, entry('next'), START + 40_005)).toMatchObject({ gapMs: 40_000 });
  });

  test('only once with one lease', () => {
    const gate = entered(NEW_GATE, entry('first', { concurrency: 2 }), NOON);
    expect(enter(gate, RULES, entry('first', { concurrency: 2 }), NOON + 60_000)).toMatchObject({
      kind: 'spent',
    });
  });

  test('not while its domain is paused', () => {
    expect(enter(NEW_GATE, { ...RULES, paused: true }, entry('first'), NOON)).toMatchObject({ kind: 'void' });
  });

  test('not with a lease from before a Retry-After, or before an outage of its origin', () => {
    const blocked = { ...RULES, validFrom: 3 };
    expect(enter(NEW_GATE, blocked, entry('old', { version: 2 }), NOON).kind).toBe('void');
    expect(enter(NEW_GATE, blocked, entry('new', { version: 3 }), NOON).kind).toBe('go');
    const down = { ...RULES, originsValidFrom: { 'https://example.org': 3 } };
    expect(enter(NEW_GATE, down, entry('old', { version: 2 }), NOON).kind).toBe('void');
    const other = entry('other', { version: 2, origin: 'http://example.org' });
    expect(enter(NEW_GATE, down, other, NOON).kind).toBe('go');
  });
});

describe('an open request', () => {
  const two = { concurrency: 2 };

  test('keeps the next one waiting while only one may be open', () => {
    const gate = entered(NEW_GATE, entry('first'), NOON);
    expect(enter(gate, RULES, entry('next', two), NOON + 60_000).kind).toBe('busy');
  });

  test('whose start is not known may still start at the last moment', () => {
    const gate = entered(NEW_GATE, entry('first', two), NOON);
    expect(enter(gate, RULES, entry('next', two), NOON + 15_000 + GAP_MS - EARLY_MS - 1).kind).toBe('busy');
    expect(enter(gate, RULES, entry('next', two), NOON + 15_000 + GAP_MS).kind).toBe('go');
  });

  test('that has reported its start delays the next one by the gap', () => {
    const gate = started(entered(NEW_GATE, entry('first', two), NOON), runOf('first'), 500, NOON + 1_500);
    expect(enter(gate, RULES, entry('next', two), START)).toEqual({ kind: 'wait', ms: GAP_MS - EARLY_MS });
    expect(enter(gate, RULES, entry('next', two), START + GAP_MS).kind).toBe('go');
  });

  test('without a gap does not delay another one without a gap', () => {
    const none = { ...two, minGapMs: 0, delayAfterMs: 0 };
    const gate = entered(NEW_GATE, entry('first', none), NOON);
    expect(enter(gate, RULES, entry('next', none), NOON).kind).toBe('go');
  });

  test('with a gap is not overtaken while it has not started', () => {
    const gate = entered(NEW_GATE, entry('first', { ...two, delayAfterMs: 0 }), NOON);
    const none = entry('next', { ...two, minGapMs: 0, delayAfterMs: 0 });
    expect(enter(gate, RULES, none, NOON + 1_000).kind).toBe('busy');
  });

  test('without a report counts as started at the last moment, and as ended after the longest fetch', () => {
    const gate = entered(NEW_GATE, entry('first'), NOON);
    expect(enter(gate, RULES, entry('next'), NOON + 74_999).kind).toBe('busy');
    const later = enter(gate, RULES, entry('next', { minGapMs: 100_000 }), NOON + 75_000);
    expect(later).toEqual({ kind: 'wait', ms: 15_000 + 100_004 - 75_000 - EARLY_MS });
  });
});

describe('a request that has ended', () => {
  const open = entered(NEW_GATE, entry('first'), NOON);

  test('and was never sent leaves no trace', () => {
    expect(leave(open, runOf('first'), { kind: 'unused' }, NOON + 9)).toEqual(NEW_GATE);
  });

  test('before it came, because its page gave it up for lost, may not start any more', () => {
    const gate = leave(NEW_GATE, pageOf('frozen'), { kind: 'lost' }, NOON);
    expect(leave(gate, pageOf('frozen'), { kind: 'lost' }, NOON + 1)).toBe(gate);
    expect(enter(gate, RULES, entry('frozen'), NOON + 9)).toEqual({ kind: 'spent' });
    expect(enter(gate, RULES, entry('next'), NOON + 9).kind).toBe('go');
  });

  test('may not start again while its task may be repeated, nor while it is open', () => {
    const quick = { repeatable: true };
    const opened = entered(NEW_GATE, entry('first', quick), NOON);
    const ended = leave(opened, runOf('first'), { kind: 'started', agoMs: 0 }, NOON + 9);
    expect(enter(opened, RULES, entry('first', quick), NOON + 99_000)).toEqual({ kind: 'spent' });
    expect(enter(ended, RULES, entry('first', quick), NOON + 15_000)).toEqual({ kind: 'spent' });
  });

  test('is forgotten when nobody can come with its lease any more, however many come after it', () => {
    const ids = Array.from({ length: 60 }, (_, n) => `lease-${n}`);
    const end = { kind: 'started', agoMs: 0 } as const;
    const passOne = (gate: Gate, leaseId: string, n: number) => {
      const at = NOON + n * 500;
      const one = entry(leaseId, { minGapMs: 0, delayAfterMs: 0, repeatable: n % 2 === 0 });
      return leave(entered(gate, one, at), runOf(leaseId), end, at);
    };
    const { spent } = ids.reduce(passOne, NEW_GATE);
    // For 20 s, and only every other one.
    expect(spent.map(({ leaseId }) => leaseId)).toEqual(
      ids.filter((_, n) => n % 2 === 0 && (60 - n) * 500 <= 20_000),
    );
  });

  test('of one run counts as lost, not as unused, if its page returns the lease', () => {
    const left = leave(open, pageOf('first'), { kind: 'unused' }, NOON + 9);
    expect(lastStartOf(left)).toBe(NOON + 15_000);
    expect(enter(left, RULES, entry('first'), NOON + 60_000)).toEqual({ kind: 'spent' });
  });

  test('of one run is not affected by what another run reports', () => {
    const other = { leaseId: 'first', passId: 'another run' };
    expect(leave(open, other, { kind: 'unused' }, NOON + 9)).toBe(open);
    expect(leave(open, other, { kind: 'started', agoMs: 0 }, NOON + 9)).toBe(open);
  });

  test('may not start again if its time was over before its worker reported it', () => {
    const overdue = NOON + 99_000;
    const next = entered(open, entry('next'), overdue);
    expect(enter(next, RULES, entry('first', { concurrency: 2 }), overdue + 99_000)).toEqual({
      kind: 'spent',
    });
  });

  test('and was lost counts as started at the last moment', () => {
    expect(lastStartOf(leave(open, runOf('first'), { kind: 'lost' }, NOON + 9))).toBe(NOON + 15_000);
  });

  test.each([Number.NaN, -1, 1e9])('with an impossible start (%d ms ago) counts as lost', (agoMs) => {
    expect(lastStartOf(leave(open, runOf('first'), { kind: 'started', agoMs }, NOON + 9))).toBe(
      NOON + 15_000,
    );
  });

  test('with a response that changes the rules closes the gate until they are written', () => {
    const none = { minGapMs: 0, delayAfterMs: 0 };
    const gate = entered(NEW_GATE, entry('first', none), NOON);
    const left = leave(gate, runOf('first'), { kind: 'started', agoMs: 20, closeMs: 1_000 }, NOON + 20);
    expect(enter(left, RULES, entry('next', none), NOON + 20)).toEqual({
      kind: 'wait',
      ms: 1_004 - EARLY_MS,
    });
  });

  test('changes nothing when it is reported again', () => {
    const gate = startedAfterNoon();
    expect(leave(gate, runOf('first'), { kind: 'started', agoMs: 0 }, NOON + 5_000)).toBe(gate);
  });
});

describe('a task that is repeated', () => {
  const open = entered(NEW_GATE, entry('one'), NOON);
  const repeated = { leaseId: 'one', passId: 'run of the repeated task' };

  test.each([{ kind: 'unused' } as const, { kind: 'started', agoMs: 0 } as const])(
    'does not end the request of another run with its lease ($kind)',
    (end) => {
      expect(leave(open, repeated, end, NOON + 9)).toBe(open);
      expect(leave(open, runOf('one'), { kind: 'unused' }, NOON + 9)).toEqual(NEW_GATE);
    },
  );

  test('does not say when the request of another run has started', () => {
    expect(started(open, repeated, 0, NOON + 9)).toEqual(open);
  });

  test.each(['unused', 'lost'] as const)('ends with its page, whichever run was let through (%s)', (kind) => {
    expect(leave(open, pageOf('one'), { kind }, NOON + 9).open).toEqual([]);
  });
});
