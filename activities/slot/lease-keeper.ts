/**
 * Keeps one lease: decides in the tick in which a request is written whether it may be, remembers what became of it, and
 * reports that to the gate and to the throttle.
 */
import type { FetchInput, FetchResult } from '../../src/core/activities.ts';
import type { AllowedBy, RequestRecord, SentTo } from '../../src/core/attempt.ts';
import type { LeaseReport, LeaseUse, Release } from '../../src/core/slot-protocol.ts';
import type { Exchange, StartVerdict } from '../../src/http/index.ts';
import { recordRequest } from '../../src/storage/pages/record-attempt.ts';
import { type ClockReading, elapsedAtLeastMs, readClocks } from '../../src/worker/clocks.ts';
import type { Deps } from '../deps.ts';
import { classifyForThrottle, retryAfterOf } from './classify-for-throttle.ts';
import { GatePass, type RequestStart } from './gate-pass.ts';
import { gateEndOf, holdMsOf, isNews } from './held-reports.ts';
import { sendReleases } from './throttle-client.ts';

/** Where a request goes. */
export type RequestTarget = Omit<SentTo, 'at'>;

export class LeaseKeeper {
  /** To its domain. */
  readonly entrance: GatePass;
  private started: RequestStart | null = null;
  private ended: Omit<Extract<LeaseUse, { kind: 'started' }>, 'kind' | 'agoMs'> | null = null;
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
    receivedAt: ClockReading,
  ) {
    this.entrance = new GatePass(deps, input, signal, receivedAt);
  }

  /** A request was written, or may have been. */
  get sent(): boolean {
    return this.started !== null;
  }

  /** This process itself was stalled since the request began: a timeout says nothing about the site. */
  get wasStalled(): boolean {
    return this.deps.lag.laggedSince(this.began);
  }

  /** Called right before a connection is begun; false: it is too late. */
  begin(): boolean {
    this.began = performance.now();
    return this.entrance.leftMs > 0;
  }

  /** For sendRequest: called in the tick of the write, it decides whether the request is sent. */
  readonly mayStart = (): StartVerdict => {
    if (this.started !== null) return { go: false, reason: 'the lease was already used' };
    this.started = this.entrance.start();
    return this.started === null
      ? { go: false, reason: TOO_LATE }
      : { go: true, startedAt: this.started.startedAt };
  };

  /** Remembers what the exchange means for politeness, and returns its record; null: nothing was written. */
  conclude(
    exchange: Exchange,
    { url, allowedBy, target }: { url: string; allowedBy: AllowedBy | null; target: RequestTarget | null },
  ): RequestRecord | null {
    if (exchange.kind === 'refused') {
      this.connectionAttempted = exchange.connectedMs !== null;
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
      ...(retryAfterMs === null ? {} : { retryAfterMs: Math.min(retryAfterMs, maxRetryAfterMs) }),
      ...(exchange.kind === 'error' ? { error: exchange.message } : {}),
    };
    const { gapMs } = this.entrance;
    if (this.started === null || gapMs === null || target === null) return null;
    const { at, startedAt, errorMs } = this.started;
    const { lease, domain } = this.input;
    this.unrecorded = {
      leaseId: lease.id,
      domain,
      url,
      startedAt,
      startedErrorMs: errorMs,
      minGapMs: gapMs,
      allowedBy,
      statusCode: status,
      durationMs,
      sentTo: { ...target, at: startedAt - Math.round(at.monotonicMs - this.began) },
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

  /** Reports to the gate and to the throttle, once; true: nothing is left to deliver. */
  report(): Promise<boolean> {
    this.reported ??= this.sendReport();
    return this.reported;
  }

  /**
   * Reports, and returns what is left for the page to deliver and to record. Delivered later, a start looks later than it
   * was, never earlier.
   */
  async settle(): Promise<Pick<FetchResult, 'undelivered' | 'request'>> {
    const delivered = await this.report();
    return {
      ...(!delivered && { undelivered: { ...this.leaseReport(), ...this.ofThisRun() } }),
      ...(this.unrecorded !== null && { request: this.unrecorded }),
    };
  }

  private ofThisRun(): { passId?: string } {
    const { passId } = this.entrance;
    return passId === null ? {} : { passId };
  }

  private async sendReport(): Promise<boolean> {
    const { lease, domain } = this.input;
    const report = this.leaseReport();
    const hasLeft = !this.entrance.isInside || (await this.entrance.leave(gateEndOf(report, lease.minGapMs)));
    const release = { leaseId: lease.id, ...report };
    if (!hasLeft) return false;
    if (!isNews(report)) this.deps.reports.hold(domain, [release], holdMsOf(report, lease.minGapMs));
    else if (!(await sendReleases(this.deps, domain, [release]))) return false;
    return this.sendForeignCrawlDelay();
  }

  /** Of a release to another throttle than the one that granted the lease only the Crawl-delay counts. */
  private async sendForeignCrawlDelay(): Promise<boolean> {
    if (this.foreignCrawlDelay === null) return true;
    const { crawlDelay, domain } = this.foreignCrawlDelay;
    const { id: leaseId } = this.input.lease;
    return sendReleases(this.deps, domain, [{ leaseId, use: { kind: 'unused' }, crawlDelay }]);
  }

  /** What became of the lease, as of now. */
  private leaseReport(): LeaseReport {
    return { use: this.use(), ...(this.crawlDelay === undefined ? {} : { crawlDelay: this.crawlDelay }) };
  }

  private use(): LeaseUse {
    if (this.entrance.isSpent) return { kind: 'lost' };
    if (this.started === null && !this.connectionAttempted)
      return { kind: 'unused', ...(this.entrance.wasBusy && { busy: true }) };
    if (this.started !== null && this.ended === null) return { kind: 'lost' };
    const ended = this.ended ?? { responseClass: 'unknown', durationMs: 0 };
    return { kind: 'started', agoMs: this.agoMs(), ...ended };
  }

  private agoMs(): number {
    return this.started === null ? 0 : elapsedAtLeastMs(this.started.at, readClocks());
  }
}

export const TOO_LATE = 'it could no longer start in time';
