/** The rules under thousands of random interleavings of everything that can go wrong. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ThrottleConfig, ThrottleState } from '../../src/throttle/index.ts';
import { randomCases } from '../support/size.ts';
import type { Wire, Written } from './simulation/fetching.ts';
import type { Granted } from './simulation/host.ts';
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
      priority: fc.integer({ min: 1, max: 3 }),
      concurrency: fc.integer({ min: 1, max: 3 }),
      targetConcurrency: fc.option(fc.integer({ min: 1, max: 3 })),
      pages: fc.integer({ min: 1, max: 12 }),
    }),
    { minLength: 1, maxLength: 3 },
  ),
  troubleMs: fc.integer({ min: 10_000, max: 300_000 }),
  faultIntervalMs: fc.integer({ min: 1_000, max: 30_000 }),
  connectingMs: fc.constantFrom(0, 0, 0, 0, 800, 5_000),
  config: fc
    .record({ queueLimit: fc.constantFrom(3, 1_000), grantLeadMs: fc.constantFrom(0, 300, 1_000) })
    .map(
      ({ queueLimit, grantLeadMs }): ThrottleConfig => ({
        ...CONFIG,
        queueLimit,
        grantLeadMs,
        startWindowMs: 5_000,
        maxStartWindowMs: 20_000,
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
const checkGrant =
  (wire: Wire) =>
  (state: ThrottleState, { lease, ask }: Granted) => {
    expect(state.openedAt).not.toBeNull();
    expect(state.paused).toBe(false);
    expect(lease.notBefore).toBeGreaterThanOrEqual(state.blockedUntil ?? 0);
    // A worker that measures the gap from the previous request ignores `notBefore`.
    if (lease.follows !== undefined) expect(wire.now).toBeGreaterThanOrEqual(state.blockedUntil ?? 0);

    const latencyMs = ask.targetConcurrency
      ? Math.ceil((state.stats.averageDurationMs ?? 0) / ask.targetConcurrency)
      : 0;
    const shortest = [ask.delay.minMs, state.operatorDelay?.minMs ?? 0, state.backoffMs, latencyMs];
    const crawlDelays = Object.values(state.crawlDelays);
    expect(lease.minGapMs).toBeGreaterThanOrEqual(Math.max(...shortest, ...crawlDelays));
    const delayAfter = [
      ...state.leases.map((open) => open.delayAfter),
      ...(state.lastStart ? [state.lastStart.delayAfter] : []),
    ];
    const longest = [...delayAfter, ...(state.operatorDelay ? [state.operatorDelay] : [])].map(({ maxMs }) =>
      Math.ceil(maxMs),
    );
    expect(lease.minGapMs).toBeLessThanOrEqual(
      Math.max(state.backoffMs, latencyMs, ...longest, ...crawlDelays),
    );

    const out = new Set(state.leases.map((open) => open.lease.id));
    expect(out.size).toBeLessThanOrEqual(Math.min(...state.leases.map((open) => open.concurrency)));
    const fetching = wire.running().filter((id) => out.has(id));
    expect(fetching.length).toBeLessThan(ask.concurrency);

    checkProbe(state, ask.origin);

    expect(state.queue.waiting.length).toBeLessThanOrEqual(state.config.queueLimit);
    expect(state.finished.length).toBeLessThanOrEqual(256);
  };

/** No page contacts an origin that is down. After the retry time one page at a time probes it. */
function checkProbe({ outages, leases }: ThrottleState, origin: string): void {
  const outage = outages[origin];
  if (!outage) return;
  const probing = leases.filter((open) => open.origin === origin && open.number > outage.grewAfter);
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
    expect(after.early - before.early).toBeGreaterThanOrEqual(grantOf(after).lease.minGapMs);
  }
  for (const written of wire.written) {
    const { lease } = grantOf(written);
    if (!written.measured) expect(written.at).toBeGreaterThanOrEqual(lease.notBefore);
    expect(written.at).toBeLessThanOrEqual(lease.startBy);
    expect(written.at - written.early).toBeLessThanOrEqual(written.errorMs);
  }
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
  let [measured, early] = [0, 0];
  fc.assert(
    fc.property(scenarios, (scenario) => {
      const run = simulate(scenario, checkGrant);
      checkGaps(run);
      expect(run.allDone).toBe(true);
      const measuredStarts = run.wire.written.filter((written) => written.measured);
      measured += measuredStarts.length;
      early += measuredStarts.filter(
        ({ leaseId, at }) => at < (run.host.granted.get(leaseId)?.lease.notBefore ?? 0),
      ).length;
    }),
    { numRuns: CASES },
  );
  // Otherwise the runs would not have tested measured gaps.
  expect(measured).toBeGreaterThan(CASES);
  expect(early).toBeGreaterThan(CASES / 2);
});
