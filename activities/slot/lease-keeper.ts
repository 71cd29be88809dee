/**
 * Keeps one lease: says yes or no in the tick in which a request is written, remembers what became of it, and tells the
 * throttle. Everything that must be true about a lease on the worker's side is here.
 */
import { randomUUID } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import type { AllowedBy, RequestRecord } from '../../src/core/attempt.ts';
import type { LeaseReport, LeaseUse, Release, RequestStart } from '../../src/core/slot-protocol.ts';
import type { Exchange, GateVerdict } from '../../src/http/index.ts';
import { recordRequest } from '../../src/storage/pages/record-attempt.ts';
import {
  elapsedAtLeastMs,
  type LocalRequestStart,
  readClocks,
  type StartVerdict,
} from '../../src/worker/server-clock.ts';
import { throttleId } from '../../workflows/ids.ts';
import { releaseSignal, startedSignal, withdrawSignal } from '../../workflows/messages.ts';
import type { DomainThrottle } from '../../workflows/throttle/domain-throttle.ts';
import type { Deps } from '../deps.ts';
import type { FetchInput, Reported } from '../fetch/fetch-page.ts';
import { askThrottle } from './acquire-slot.ts';
import { classifyForThrottle, retryAfterOf } from './classify-for-throttle.ts';
import { throttleStart } from './throttle-start.ts';

/** How long a report is tried before the page has to send it. */
const REPORT_FOR_MS = 5_000;

export class LeaseKeeper {
  private started: (LocalRequestStart & { errorMs: number; measured: boolean }) | null = null;
  private ended: Omit<Extract<LeaseUse, { kind: 'started' }>, 'kind' | keyof RequestStart> | null = null;
  /** Nothing was written, yet the site was bothered: by a connection that failed, or stood too late to be used. */
  private connectionAttempted = false;
  private crawlDelay: Release['crawlDelay'];
  private elsewhere: { crawlDelay: NonNullable<Release['crawlDelay']>; domain: string } | null = null;
  private reported: Promise<boolean> | null = null;
  /** A request that went out and is not on record, nor part of a result that will be. */
  unrecorded: RequestRecord | null = null;
  /** The next request may start before this one has ended: its throttle then waits to hear that this one has started. */
  isConcurrent = false;
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

  /** This process itself stood still since the request was begun: what timed out, did so for that. */
  get stoodStill(): boolean {
    return this.deps.lag.laggedSince(this.began);
  }

  /** Waits until the lease may be used. Null: go on; else why it cannot be kept. */
  async ready(): Promise<string | null> {
    for (;;) {
      const verdict = this.judge(readClocks());
      switch (verdict.verdict) {
        case 'go':
          this.began = performance.now();
          return null;
        case 'wait':
          await delay(verdict.ms, undefined, { signal: this.signal });
          break;
        case 'too-late':
          return 'its start window had passed';
        case 'no-clock': {
          const refusal = await this.learnClock();
          if (refusal !== null) return refusal;
        }
      }
    }
  }

  /** The gate of sendRequest: called in the tick of the write, and the last word on whether it happens. */
  readonly gate = (): GateVerdict => {
    if (this.started !== null) return { go: false, reason: 'the lease was used already' };
    const at = readClocks();
    const verdict = this.judge(at);
    if (verdict.verdict !== 'go') return { go: false, reason: refusalOf(verdict.verdict) };
    const { startedAtEarly: serverMs, errorMs, measured } = verdict;
    const { lease, domain } = this.input;
    this.started = { at, serverMs, errorMs, measured };
    this.deps.starts.record(domain, lease.id, { at, serverMs });
    // Where no gap is owed nobody waits to hear of it.
    if (this.isConcurrent && lease.minGapMs > 0) void this.sayStarted();
    return { go: true, startedAt: serverMs };
  };

  private judge(now: LocalRequestStart['at']): StartVerdict {
    const { lease, domain } = this.input;
    return this.deps.clock.checkStart(lease, now, this.deps.starts.get(domain, lease.follows));
  }

  /** What the exchange means for politeness, and its record. Null: nothing was written. */
  conclude(exchange: Exchange, url: string, allowedBy: AllowedBy | null): RequestRecord | null {
    if (exchange.kind === 'refused') {
      this.connectionAttempted = exchange.connected;
      return null;
    }
    const tookMs = exchange.tookMs;
    const status = exchange.kind === 'response' ? exchange.status : (exchange.status ?? null);
    this.connectionAttempted = exchange.kind === 'error' && exchange.errorKind !== 'forbidden';
    const retryAfterMs = retryAfterOf(exchange, Date.now());
    const { maxRetryAfterMs } = this.deps.config.throttle;
    if (retryAfterMs !== null && retryAfterMs > maxRetryAfterMs) {
      this.deps.log.warn(
        { url, retryAfterMs, maxRetryAfterMs },
        'the site asks for a Retry-After above maxRetryAfter, which is kept instead',
      );
    }
    this.ended = {
      responseClass: classifyForThrottle(exchange, { stoodStill: this.stoodStill }),
      durationMs: tookMs,
      ...(retryAfterMs === null ? {} : { retryAfterMs }),
      ...(exchange.kind === 'error' ? { error: exchange.message } : {}),
    };
    if (this.started === null) return null;
    const { serverMs, errorMs, measured } = this.started;
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
      tookMs,
    };
    return this.unrecorded;
  }

  /** A request that is no attempt, for robots.txt or broken off by ourselves, went out all the same. In an outage the page does it. */
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
   * The throttle learns of it with the release, so it counts from the very next slot. `domain`: whose delay it is; a
   * redirected robots.txt was read with a slot of another domain.
   */
  noteCrawlDelay(crawlDelay: NonNullable<Release['crawlDelay']>, domain: string): void {
    if (domain === this.input.domain) this.crawlDelay = crawlDelay;
    else this.elsewhere = { crawlDelay, domain };
  }

  /** Tells the throttle, once; true when it is known to have heard. */
  report(): Promise<boolean> {
    this.reported ??= this.tellReleased();
    return this.reported;
  }

  /** Tells the throttle, or leaves to the page what it is to hear, and what is to be recorded. By then it looks later than it was, never earlier. */
  async reportOrHandOn(): Promise<Reported> {
    const heard = await this.report();
    return {
      ...(heard ? { reported: true } : { reported: false, unsaid: this.word(), anyhow: true }),
      ...(this.unrecorded === null ? {} : { unrecorded: this.unrecorded }),
    };
  }

  /** A ticket that holds a lease is answered with that lease: asking again is a harmless way to hear the time. */
  private async learnClock(): Promise<string | null> {
    const { domain, ask, lease } = this.input;
    const answer = await askThrottle(this.deps, domain, ask, `${ask.ticket}:clock:${randomUUID()}`);
    if (answer.kind === 'granted' && answer.lease.id === lease.id) return null;
    // The lease is over, and this ask put its ticket in line again, for nobody.
    await this.tell(domain, (throttle) => throttle.signal(withdrawSignal, { ticket: ask.ticket }));
    return 'the lease was over already';
  }

  private async tellReleased(): Promise<boolean> {
    const { lease, domain } = this.input;
    const heard = await this.tell(domain, (throttle) =>
      throttle.signal(releaseSignal, { leaseId: lease.id, ...this.word() }),
    );
    return (await this.tellElsewhere()) && heard;
  }

  /** What became of the lease, as of now. */
  private word(): LeaseReport {
    return { use: this.use(), ...(this.crawlDelay === undefined ? {} : { crawlDelay: this.crawlDelay }) };
  }

  /** To a throttle that does not know this lease, the message is only the Crawl-delay it brings; it must not get lost. */
  private async tellElsewhere(): Promise<boolean> {
    if (this.elsewhere === null) return true;
    const { crawlDelay, domain } = this.elsewhere;
    const release: Release = { leaseId: this.input.lease.id, use: { kind: 'unused' }, crawlDelay };
    const { client, config } = this.deps;
    return this.tell(domain, async () => {
      await client.workflow.signalWithStart<typeof DomainThrottle, [Release]>('DomainThrottle', {
        ...throttleStart(config, domain),
        signal: releaseSignal,
        signalArgs: [release],
      });
    });
  }

  private async sayStarted(): Promise<void> {
    await this.tell(this.input.domain, (throttle) =>
      throttle.signal(startedSignal, { leaseId: this.input.lease.id, ...this.start() }),
    );
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
    // By the measured gap it may have started a little before `notBefore`, and then surely no later than that.
    const latestAt = Math.max(serverMs + errorMs, this.input.lease.notBefore);
    return { agoMs: elapsedAtLeastMs(at, readClocks()), latestAt };
  }

  private async tell(
    domain: string,
    say: (throttle: ReturnType<Deps['client']['workflow']['getHandle']>) => Promise<void>,
  ): Promise<boolean> {
    const throttle = this.deps.client.workflow.getHandle(throttleId(domain));
    const { connection } = this.deps.client;
    try {
      await connection.withDeadline(Date.now() + REPORT_FOR_MS, () => say(throttle));
      return true;
    } catch (error) {
      if (!this.deps.dependencies.reportIfUnavailable(error)) {
        this.deps.log.warn(
          { lease: this.input.lease.id, err: error },
          'the throttle could not be told; the page will',
        );
      }
      return false;
    }
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
