/** The rules under thousands of random interleavings of everything that can go wrong. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ThrottleConfig, ThrottleState } from '../../src/throttle/index.ts';
import { randomCases } from '../support/size.ts';
import type { Written } from './simulation/fetching.ts';
import type { Checks, Granted } from './simulation/host.ts';
import { type Run, type Scenario, simulate } from './simulation/simulate.ts';
import { CONFIG } from './support.ts';

const CASES = randomCases(5_000);

const delay = fc.oneof(
  fc.constantFrom({ minMs: 0, maxMs: 0 }, { minMs: 1_000, maxMs: 1_000 }, { minMs: 20_000, maxMs: 20_000 }),
  fc.tuple(fc.nat(3_000), fc.nat(6_000)).map(([minMs, more]) => ({ minMs, maxMs: minMs + more })),
);

const scenarios: fc.Arbitrary<Scenario> = fc.record({
  seed: fc.nat(),
  crawls: fc.array(
    fc.record({
      delay,
      concurrency: fc.integer({ min: 1, max: 3 }),
      targetConcurrency: fc.option(fc.integer({ min: 1, max: 3 })),
      pages: fc.integer({ min: 1, max: 12 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  troubleMs: fc.integer({ min: 10_000, max: 300_000 }),
  faultIntervalMs: fc.integer({ min: 1_000, max: 30_000 }),
  atFront: fc.constantFrom(0, 0.1),
  slowResponses: fc.constantFrom(0, 0.05),
  // With the first, pages fetch within their workflow tasks.
  usualResponseMs: fc.constantFrom(300, 2_000),
  connectingMs: fc.constantFrom(0, 0, 0, 0, 800, 5_000),
  config: fc
    .record({ maxReserved: fc.constantFrom(1, 3, 16), horizonMs: fc.constantFrom(1_000, 60_000) })
    .map(
      (horizon): ThrottleConfig => ({
        ...CONFIG,
        ...horizon,
        startWindowMs: 15_000,
        maxBackoffMs: 20_000,
        maxRetryAfterMs: 60_000,
        outageRetryMs: 5_000,
        maxOutageRetryMs: 30_000,
        outageGiveUpMs: 90_000,
        idleTimeoutMs: 2_000,
      }),
    ),
});

/** What must hold at every grant. */
function checkGrant(state: ThrottleState, { lease, ask }: Granted): void {
  expect(state.openedAt).not.toBeNull();
  expect(state.paused).toBe(false);
  expect(lease.earlyMs).toBeGreaterThanOrEqual(0);
  expect(lease.notBefore - lease.earlyMs).toBeGreaterThanOrEqual(state.blockedUntil ?? 0);

  const latencyMs = ask.targetConcurrency
    ? Math.ceil((state.stats.averageDurationMs ?? 0) / ask.targetConcurrency)
    : 0;
  const others = [state.backoffMs, latencyMs, ...Object.values(state.crawlDelays)];
  const ranges = [ask.delay, ...(state.operatorDelay ? [state.operatorDelay] : [])];
  const [shortest, longest] = [ranges.map(({ minMs }) => minMs), ranges.map(({ maxMs }) => Math.ceil(maxMs))];
  expect(lease.minGapMs).toBeGreaterThanOrEqual(Math.max(...others, ...shortest));
  expect(lease.minGapMs).toBeLessThanOrEqual(Math.max(...others, ...longest));

  checkProbe(state, ask.origin);

  if (!ask.atFront) {
    const notDue = state.leases.filter((open) => !open.ask.atFront);
    expect(notDue.length).toBeLessThanOrEqual(state.config.maxReserved + 3);
  }
  expect(state.waiting.length).toBeLessThanOrEqual(state.config.maxWaiting);
}

/** What must hold at every request that passes the gate. */
const checkEntry: Checks['entry'] = ({ lease, ask }, rules, gate, running) => {
  expect(rules.paused).toBe(false);
  expect(lease.version).toBeGreaterThanOrEqual(rules.validFrom);
  expect(lease.version).toBeGreaterThanOrEqual(rules.originsValidFrom[ask.origin] ?? 0);
  expect(gate.open.length).toBeLessThanOrEqual(Math.min(...gate.open.map(({ concurrency }) => concurrency)));
  expect(gate.open.at(-1)?.gapMs).toBeGreaterThanOrEqual(Math.max(rules.minGapMs, lease.minGapMs));
  const known = new Set(gate.open.map(({ leaseId }) => leaseId));
  expect(known.size).toBe(gate.open.length);
  expect(running.filter((id) => known.has(id)).length).toBeLessThan(ask.concurrency);
};

/** No page contacts an origin that is down. After the retry time one page at a time probes it. */
function checkProbe({ outages, leases }: ThrottleState, origin: string): void {
  const outage = outages[origin];
  if (!outage) return;
  const probing = leases.filter((open) => open.ask.origin === origin && open.number > outage.grewAfter);
  expect(probing).toHaveLength(1);
  expect(probing[0]?.grantedAt).toBeGreaterThanOrEqual(outage.until);
}

/** Neither requests nor connections start closer together than the gap, in true time and as recorded. */
function checkGaps({ host, wire }: Run): void {
  const grantOf = ({ leaseId }: Pick<Written, 'leaseId'>) => {
    const granted = host.granted.get(leaseId);
    if (!granted) throw new Error(`a request was written without a lease: ${leaseId}`);
    return granted;
  };
  const ordered = (time: (written: Written) => number) =>
    pairs([...wire.written].sort((one, other) => time(one) - time(other)));

  for (const contacts of [ordered(({ at }) => at), pairs(wire.connections)]) {
    for (const [before, after] of contacts) {
      const [previous, next] = [grantOf(before), grantOf(after)];
      expect(after.at - before.at).toBeGreaterThanOrEqual(next.lease.minGapMs);
      expect(after.at - before.at).toBeGreaterThanOrEqual(previous.ask.delay.minMs);
    }
  }
  for (const [before, after] of ordered(({ early }) => early)) {
    expect(after.early - before.early).toBeGreaterThanOrEqual(after.gapMs);
  }
  for (const written of wire.written) {
    const { lease } = grantOf(written);
    expect(written.at).toBeGreaterThanOrEqual(lease.notBefore - lease.earlyMs);
    expect(written.at).toBeLessThanOrEqual(written.startBy);
    expect(written.gapMs).toBeGreaterThanOrEqual(lease.minGapMs);
    expect(written.at).toBeGreaterThanOrEqual(written.early);
    expect(written.at - written.early).toBeLessThanOrEqual(written.errorMs);
  }
  for (const { at, startBy } of wire.connections) expect(at).toBeLessThanOrEqual(startBy);
  expect(new Set(wire.written.map(({ leaseId }) => leaseId)).size).toBe(wire.written.length);
}

function pairs<T>(items: T[]): Array<[T, T]> {
  return items.slice(1).flatMap((item, index) => {
    const before = items[index];
    return before === undefined ? [] : [[before, item] as [T, T]];
  });
}

// The full number of cases takes minutes on a busy machine.
test('whatever fails, requests keep their gap and every page is served or gone', { timeout: 600_000 }, () => {
  let [written, delayed] = [0, 0];
  const refusals = new Set<string>();
  fc.assert(
    fc.property(scenarios, (scenario) => {
      const run = simulate(scenario, { grant: checkGrant, entry: checkEntry });
      checkGaps(run);
      expect(run.allDone).toBe(true);
      written += run.wire.written.length;
      for (const reason of run.wire.refusals) refusals.add(reason);
      delayed += run.wire.delayed;
    }),
    { numRuns: CASES },
  );
  // Otherwise the runs would not have tested the gate.
  expect(written).toBeGreaterThan(8 * CASES);
  expect(delayed).toBeGreaterThan(CASES);
  const reasons = ['gap', 'busy', 'spent', 'the domain is paused', 'the lease was granted under older rules'];
  expect([...refusals]).toEqual(expect.arrayContaining(reasons));
});

test('without faults, slots are used as soon as the gap allows, and pages ask about once', () => {
  const crawl = { concurrency: 1, targetConcurrency: null };
  for (const [delayMs, pages] of [
    [10_000, 6],
    [3_000, 16],
  ] as const) {
    const scenario = {
      seed: 7,
      crawls: [{ ...crawl, delay: { minMs: delayMs, maxMs: delayMs }, pages }],
      troubleMs: 0,
      faultIntervalMs: 1_000,
      atFront: 0,
      connectingMs: 0,
      config: CONFIG,
      slowResponses: 0,
      usualResponseMs: 2_000,
    };
    const run = simulate(scenario, { grant: checkGrant, entry: checkEntry });
    checkGaps(run);
    const starts = run.wire.written.map(({ at }) => at);
    const tookMs = Math.max(...starts) - Math.min(...starts);
    expect(tookMs / ((pages - 1) * delayMs)).toBeLessThan(1.02);
    expect(run.pages.reduce((total, page) => total + page.asks, 0)).toBe(pages);
  }
});
