/**
 * Keeps one lease: decides in the tick in which a request is written whether it may be, remembers what became of it, and
 * reports that to the throttle. Everything that must be true about a lease on the worker's side is here.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { FetchInput, FetchResult } from '../../src/core/activities.ts';
import type { AllowedBy, RequestRecord, SentTo } from '../../src/core/attempt.ts';
import type { LeaseReport, LeaseUse, Release, RequestStart } from '../../src/core/slot-protocol.ts';
import type { Exchange, GateVerdict } from '../../src/http/index.ts';
import { recordRequest } from '../../src/storage/pages/record-attempt.ts';
import {
  elapsedAtLeastMs,
  type LocalRequestStart,
  readClocks,
  type StartVerdict,
} from '../../src/worker/server-clock.ts';
import { releaseSignal, startedSignal, withdrawSignal } from '../../workflows/messages.ts';
import type { Deps } from '../deps.ts';
import { classifyForThrottle, retryAfterOf } from './classify-for-throttle.ts';
import { askThrottle, sendCrawlDelay, signalThrottle } from './throttle-client.ts';

export type Readiness = { ok: true; inMs: number } | { ok: false; reason: string };

/** Where a request goes. */
export type RequestTarget = Omit<SentTo, 'at'>;

export class LeaseKeeper {
  private started: (LocalRequestStart & { errorMs: number; measured: boolean }) | null = null;
  private ended: Omit<Extract<LeaseUse, { kind: 'started' }>, 'kind' | keyof RequestStart> | null = null;
  /** Nothing was written, but a connection was attempted: it failed, or was established too late to be used. */
  private connectionAttempted = false;
  private crawlDelay: Release['crawlDelay'];
  /** Of another domain than the one that granted the lease. */
  private foreignCrawlDelay: { crawlDelay: NonNullable<Release['crawlDelay']>; domain: string } | null = null;
  private reported: Promise<boolean> | null = null;
  /** A request that was sent and is neither recorded nor part of a result that will be. */
  unrecorded: RequestRecord | null = null;
  /** When the lease could last be used: right before its request was sent. */
  private began = performance.now();

  constructor(
    private readonly deps: Deps,
    private readonly input: FetchInput,
    readonly signal: AbortSignal,
  ) {}

  /** A request was written, or may have been. */
  get sent(): boolean {
    return this.started !== null;
  }

  /** This process itself was stalled since the request began: a timeout says nothing about the site. */
  get wasStalled(): boolean {
    return this.deps.lag.laggedSince(this.began);
  }

  /** How long the lease may certainly still be used. */
  get leftMs(): number {
    return this.deps.clock.leftUntil(this.input.lease.startBy, readClocks());
  }

  /** Waits until `leadMs` before the lease may be used, and returns the rest of the wait; or why it cannot be used. */
  async ready(leadMs = 0): Promise<Readiness> {
    for (;;) {
      const verdict = this.judge(readClocks());
      switch (verdict.verdict) {
        case 'go':
          this.began = performance.now();
          return { ok: true, inMs: 0 };
        case 'wait':
          if (verdict.ms <= leadMs) return { ok: true, inMs: verdict.ms };
          await delay(verdict.ms - leadMs, undefined, { signal: this.signal });
          break;
        case 'too-late':
          return { ok: false, reason: 'its start window had passed' };
        case 'no-clock': {
          const refusal = await this.learnClock();
          if (refusal !== null) return { ok: false, reason: refusal };
        }
      }
    }
  }

  /** The gate of sendRequest: called in the tick of the write, it decides whether the request is sent. */
  readonly gate = (): GateVerdict => {
    if (this.started !== null) return { go: false, reason: 'the lease was already used' };
    const at = readClocks();
    const verdict = this.judge(at);
    if (verdict.verdict !== 'go') return { go: false, reason: refusalOf(verdict.verdict) };
    const { startedAtEarly: serverMs, errorMs, measured } = verdict;
    const { lease, domain } = this.input;
    this.started = { at, serverMs, errorMs, measured };
    this.deps.starts.record(domain, lease.id, { at, serverMs });
    if (lease.reportStart) void this.sendStarted();
    return { go: true, startedAt: serverMs };
  };

  private judge(now: LocalRequestStart['at']): StartVerdict {
    const { lease, domain } = this.input;
    return this.deps.clock.checkStart(lease, now, this.deps.starts.get(domain, lease.follows));
  }

  /** Remembers what the exchange means for politeness, and returns its record; null: nothing was written. */
  conclude(
    exchange: Exchange,
    { url, allowedBy, target }: { url: string; allowedBy: AllowedBy | null; target: RequestTarget | null },
  ): RequestRecord | null {
    if (exchange.kind === 'refused') {
      this.connectionAttempted = exchange.connected;
      return null;
    }
    const { durationMs } = exchange;
    const status = exchange.kind === 'response' ? exchange.status : (exchange.status ?? null);
    this.connectionAttempted = exchange.kind === 'error' && exchange.errorKind !== 'forbidden';
    const retryAfterMs = retryAfterOf(exchange, Date.now());
    const { maxRetryAfterMs } = this.deps.config.throttle;
    if (retryAfterMs !== null && retryAfterMs > maxRetryAfterMs) {
      this.deps.log.warn(
        { url, retryAfterMs, maxRetryAfterMs },
        'Retry-After is above maxRetryAfter; using the maximum',
      );
    }
    this.ended = {
      responseClass: classifyForThrottle(exchange, { wasStalled: this.wasStalled }),
      durationMs,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
      ...(exchange.kind === 'error' ? { error: exchange.message } : {}),
    };
    if (this.started === null || target === null) return null;
    const { at, serverMs, errorMs, measured } = this.started;
    const { lease, domain } = this.input;
    this.unrecorded = {
      leaseId: lease.id,
      domain,
      url,
      startedAt: serverMs,
      startedErrorMs: errorMs,
      minGapMs: lease.minGapMs,
      ...(measured && lease.follows !== undefined ? { measuredFrom: lease.follows } : {}),
      allowedBy,
      statusCode: status,
      durationMs,
      sentTo: { ...target, at: serverMs - Math.round(at.monotonicMs - this.began) },
    };
    return this.unrecorded;
  }

  /** Records a request outside an attempt: for robots.txt, or aborted by us. If the database is unavailable the page does it. */
  async record(): Promise<void> {
    if (this.unrecorded === null) return;
    const { crawlId, pageId } = this.input;
    try {
      await recordRequest(this.deps.db, { ...this.unrecorded, crawlId, pageId });
      this.unrecorded = null;
    } catch (error) {
      if (!this.deps.dependencies.reportIfUnavailable(error)) throw error;
    }
  }

  /**
   * The throttle learns it with the release, so it applies from the very next slot. `domain`: whose delay it is; a redirected
   * robots.txt was read with a slot of another domain.
   */
  setCrawlDelay(crawlDelay: NonNullable<Release['crawlDelay']>, domain: string): void {
    if (domain === this.input.domain) this.crawlDelay = crawlDelay;
    else this.foreignCrawlDelay = { crawlDelay, domain };
  }

  /** Reports to the throttle, once; true: the report is known to have been delivered. */
  report(): Promise<boolean> {
    this.reported ??= this.sendRelease();
    return this.reported;
  }

  /**
   * Reports, and returns what is left for the page to deliver and to record. Delivered later, a start looks later than it
   * was, never earlier.
   */
  async settle(): Promise<Pick<FetchResult, 'undelivered' | 'request'>> {
    const delivered = await this.report();
    return {
      ...(!delivered && { undelivered: this.leaseReport() }),
      ...(this.unrecorded !== null && { request: this.unrecorded }),
    };
  }

  /** A ticket that holds a lease is answered with that lease, so asking again is a harmless way to read the clock. */
  private async learnClock(): Promise<string | null> {
    const { domain, ask, lease } = this.input;
    const answer = await askThrottle(this.deps, domain, ask, `${ask.ticket}:clock:${randomUUID()}`);
    if (answer.kind === 'granted' && answer.lease.id === lease.id) return null;
    // The lease has ended, and this ask has queued its ticket again, which no page waits for.
    await signalThrottle(this.deps, domain, (throttle) =>
      throttle.signal(withdrawSignal, { ticket: ask.ticket }),
    );
    return 'the lease had already ended';
  }

  private async sendRelease(): Promise<boolean> {
    const { lease, domain } = this.input;
    const delivered = await signalThrottle(this.deps, domain, (throttle) =>
      throttle.signal(releaseSignal, { leaseId: lease.id, ...this.leaseReport() }),
    );
    return (await this.sendForeignCrawlDelay()) && delivered;
  }

  private async sendForeignCrawlDelay(): Promise<boolean> {
    if (this.foreignCrawlDelay === null) return true;
    const { crawlDelay, domain } = this.foreignCrawlDelay;
    return sendCrawlDelay(this.deps, domain, {
      leaseId: this.input.lease.id,
      use: { kind: 'unused' },
      crawlDelay,
    });
  }

  private async sendStarted(): Promise<void> {
    await signalThrottle(this.deps, this.input.domain, (throttle) =>
      throttle.signal(startedSignal, { leaseId: this.input.lease.id, ...this.start() }),
    );
  }

  /** What became of the lease, as of now. */
  private leaseReport(): LeaseReport {
    return { use: this.use(), ...(this.crawlDelay === undefined ? {} : { crawlDelay: this.crawlDelay }) };
  }

  private use(): Release['use'] {
    if (this.started === null && !this.connectionAttempted) return { kind: 'unused' };
    if (this.started !== null && this.ended === null) return { kind: 'lost' };
    return {
      kind: 'started',
      ...this.start(),
      ...(this.ended ?? { responseClass: 'unknown', durationMs: 0 }),
    };
  }

  private start(): RequestStart {
    if (this.started === null) return { agoMs: 0, latestAt: null };
    const { at, serverMs, errorMs } = this.started;
    // With a measured gap it may have started a little before `notBefore`, and then certainly no later than that.
    const latestAt = Math.max(serverMs + errorMs, this.input.lease.notBefore);
    return { agoMs: elapsedAtLeastMs(at, readClocks()), latestAt };
  }
}

function refusalOf(verdict: 'wait' | 'too-late' | 'no-clock'): string {
  switch (verdict) {
    case 'wait':
      return 'it was too early after all';
    case 'too-late':
      return 'its start window had passed';
    case 'no-clock':
      return "the throttle's clock was not known well enough";
  }
}
