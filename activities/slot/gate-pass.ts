/** Takes a lease through the gate of its domain, and knows how long its request may start after that. */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { Context } from '@temporalio/activity';
import type { FetchInput } from '../../src/core/activities.ts';
import { type Entry, type EntryEnd, REPEAT_WITHIN_MS, type Reporter } from '../../src/core/gate.ts';
import {
  type GateReading,
  type GateRow,
  leaveGate,
  type PassResult,
  passGate,
  readGate,
  recordStarted,
} from '../../src/storage/gate.ts';
import {
  type ClockReading,
  elapsedAtLeastMs,
  elapsedAtMostMs,
  RemoteClock,
  readClocks,
} from '../../src/worker/clocks.ts';
import type { Deps } from '../deps.ts';

/** When a request was written. */
export interface RequestStart {
  at: ClockReading;
  /** On Postgres's clock: the earliest time at which it may have started, and how much later it may have been. */
  startedAt: number;
  errorMs: number;
}

/**
 * A fetch waits no longer at the gate: its page can wait without a worker. More than the time by which requests usually run
 * behind their plan.
 */
const MAX_WAIT_MS = 2_000;

/** Beyond connecting: for a turn at the address, and for a busy process. A request that is lost closes the gate for that long. */
const START_SLACK_MS = 5_000;

/** What waits in a stalled process begins soon after the stall. */
const STALL_BEFORE_MS = 2_000;

export class GatePass {
  private passed: Extract<PassResult, { kind: 'go' }> | null = null;
  /** The gate as it was last read or written. null: it must be read. */
  private reading: GateReading | null = null;
  /** The gate was passed, or may have been: its answer got lost. */
  isInside = false;
  /** The gate knows the lease already: this task is a repeated one, or late. */
  isSpent = false;
  /** The gate refused the lease, because as many requests were open as may be. */
  wasBusy = false;
  /** robots.txt asks for this gap, which the throttle may not know yet. */
  private requiredGapMs = 0;
  private readonly self: Reporter & { passId: string };
  private readonly scheduledAt: number;
  private readonly startWithinMs: number;

  constructor(
    private readonly deps: Pick<
      Deps,
      'db' | 'databaseClock' | 'gateWaits' | 'lateness' | 'dependencies' | 'lag' | 'log' | 'metrics'
    >,
    private readonly input: FetchInput,
    private readonly signal: AbortSignal,
    /** A time at which this process had the task. */
    private readonly receivedAt: ClockReading,
  ) {
    this.self = { leaseId: input.lease.id, passId: randomUUID() };
    this.scheduledAt = input.scheduledAt ?? Context.current().info.currentAttemptScheduledTimestampMs;
    this.startWithinMs = input.connectTimeoutMs + START_SLACK_MS;
  }

  /** The gap that was kept. null: the gate has not been passed. */
  get gapMs(): number | null {
    return this.passed?.gapMs ?? null;
  }

  /**
   * How long the request may certainly still start. Before the gate: how long the lease may be used. A process that was stalled
   * may have missed its heartbeats: then the page has another slot by now, and would be fetched twice.
   */
  get leftMs(): number {
    if (this.deps.lag.laggedSince(this.trustedSince)) return 0;
    const leftMs =
      this.passed === null
        ? this.usableUntil - this.scheduledAt - elapsedAtMostMs(this.receivedAt, readClocks())
        : this.passed.openedAt + this.startWithinMs - this.passed.reading.clock.atMost();
    return Math.max(0, leftMs);
  }

  /** A task that is repeated may have come while this process was stalled, long before it was received. */
  private get trustedSince(): number {
    return this.receivedAt.monotonicMs - (this.input.lease.quick ? STALL_BEFORE_MS : 0);
  }

  /** On the throttle's clock. The gate does not remember for longer which leases were used by other runs of their tasks. */
  private get usableUntil(): number {
    const { quick, notBefore, startBy } = this.input.lease;
    return quick ? Math.min(startBy, notBefore + REPEAT_WITHIN_MS) : startBy;
  }

  /** For the page, if the report of this run does not arrive. Of another run's request it must say nothing. */
  get passId(): string | null {
    return this.isSpent ? null : this.self.passId;
  }

  requireGap(gapMs: number): void {
    this.requiredGapMs = gapMs;
  }

  /** Waits until the request may start, or until this much before that. */
  async due(aheadMs = 0): Promise<void> {
    // This task was received after it was scheduled, so the planned time has come when this much has passed.
    const waitMs = -this.sincePlannedMs(readClocks()) - this.input.lease.earlyMs - aheadMs;
    if (waitMs > 0) await delay(Math.ceil(waitMs), undefined, { signal: this.signal });
  }

  /** The row of the gate, read between `before` and now. From here on the site, its name server and other requests may be what takes time. */
  seen(row: GateRow | null, before: ClockReading): void {
    this.deps.lateness.recordFetch(this.sincePlannedMs(readClocks()));
    this.reading = row && this.readingOf(row, before);
  }

  /** From now on the request may start within a set time. Returns why it may not, or null. */
  async pass(): Promise<string | null> {
    const arrivedAt = performance.now();
    this.isInside = true;
    const verdict = await this.atGate();
    this.isInside = verdict.kind === 'go';
    this.wasBusy = verdict.kind === 'busy';
    this.isSpent = verdict.kind === 'spent';
    if (verdict.kind !== 'go') return refusalOf(verdict);
    this.passed = verdict;
    await this.opened(verdict);
    this.deps.metrics.gatePassed(performance.now() - arrivedAt);
    return null;
  }

  /** To be called in the tick of the write. null: it is too late. */
  start(): RequestStart | null {
    if (this.passed === null || this.leftMs === 0) return null;
    const at = readClocks();
    const { openedAt, reading } = this.passed;
    const { clock } = reading;
    this.deps.metrics.requestStarted(this.sincePlannedMs(at));
    // That time had come for certain. A local clock that was set since may have made `clock` less exact.
    const startedAt = Math.floor(Math.max(openedAt, clock.atLeast()));
    // With one request at a time, the next one waits for the end of this one anyway.
    if (this.input.ask.concurrency > 1) void this.recordStarted(at);
    return { at, startedAt, errorMs: Math.ceil(clock.atMost()) - startedAt };
  }

  /** Returns whether the gate knows what became of the request. Never throws: a response that has arrived must not be lost. */
  async leave(end: EntryEnd): Promise<boolean> {
    const { domain, ask } = this.input;
    try {
      // With several requests at a time, the row has changed since.
      const known = ask.concurrency === 1 ? this.reading : null;
      await leaveGate(this.deps.db, domain, this.self, end, known);
      this.deps.gateWaits.wake(domain);
      return true;
    } catch (error) {
      if (!this.deps.dependencies.reportIfUnavailable(error))
        this.deps.log.warn({ domain, err: error }, 'could not leave the gate; the page will');
      return false;
    }
  }

  /** If it is not recorded, the next request waits until this one can no longer start, or has ended. */
  private async recordStarted(at: ClockReading): Promise<void> {
    const { domain } = this.input;
    try {
      await recordStarted(this.deps.db, domain, this.self, elapsedAtLeastMs(at, readClocks()));
      this.deps.gateWaits.wake(domain);
    } catch (error) {
      this.deps.dependencies.reportIfUnavailable(error);
    }
  }

  private entry(): Entry {
    const { lease, ask } = this.input;
    return {
      ...this.self,
      origin: ask.origin,
      version: lease.version,
      minGapMs: Math.max(lease.minGapMs, this.requiredGapMs),
      delayAfterMs: ask.delay.minMs,
      concurrency: ask.concurrency,
      startWithinMs: this.startWithinMs,
      maxFetchMs: ask.maxFetchMs,
      repeatable: lease.quick,
    };
  }

  /** Negative before the planned time. */
  private sincePlannedMs(at: ClockReading): number {
    return this.scheduledAt + elapsedAtLeastMs(this.receivedAt, at) - this.input.lease.notBefore;
  }

  private async atGate(): Promise<PassResult> {
    const giveUpAt = performance.now() + MAX_WAIT_MS;
    for (;;) {
      const verdict = await passGate(this.deps.db, this.input.domain, this.entry(), this.reading, () =>
        this.read(),
      );
      // What is waited for while the gate is busy changes it.
      this.reading = verdict.kind === 'busy' ? null : verdict.reading;
      if (verdict.kind !== 'wait' && verdict.kind !== 'busy') return verdict;
      const waitMs = verdict.kind === 'wait' ? verdict.ms : 0;
      if (performance.now() + waitMs > giveUpAt) return verdict;
      if (verdict.kind === 'wait') await delay(waitMs, undefined, { signal: this.signal });
      else await this.deps.gateWaits.wait(this.input.domain, this.signal);
    }
  }

  private async opened({ openedAt, reading }: Extract<PassResult, { kind: 'go' }>): Promise<void> {
    const { clock } = reading;
    // A timer may fire a little early.
    while (clock.atLeast() < openedAt) {
      await delay(Math.ceil(openedAt - clock.atLeast()), undefined, { signal: this.signal });
    }
  }

  private async read(): Promise<GateReading | null> {
    const before = readClocks();
    const row = await readGate(this.deps.db, this.input.domain);
    return row && this.readingOf(row, before);
  }

  private readingOf(row: GateRow, before: ClockReading): GateReading {
    return { row, clock: this.deps.databaseClock.add(new RemoteClock(row.now, before, readClocks())) };
  }
}

function refusalOf(verdict: Exclude<PassResult, { kind: 'go' }>): string {
  switch (verdict.kind) {
    case 'void':
      return verdict.reason;
    case 'spent':
      return 'the lease was already used';
    case 'wait':
      return 'another request went first';
    case 'busy':
      return 'another request was still open';
  }
}
