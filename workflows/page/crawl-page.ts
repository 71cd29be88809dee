/**
 * One page, from its admission to its final status: acquire a slot, fetch, record, start the pages that were admitted.
 * Every wait is a durable timer; a waiting page uses no worker.
 */
import { CancellationScope, continueAsNew, isCancellation, setHandler, sleep } from '@temporalio/workflow';
import type { FetchOutcome, FetchResult, PageSummary } from '../../src/core/activities.ts';
import {
  type AttemptReport,
  type RequestRecord,
  reportWithoutRequest,
  slotWaitMs,
} from '../../src/core/attempt.ts';
import { formatDuration, truncateSummary } from '../../src/core/format.ts';
import type { Outcome, PageStatus } from '../../src/core/outcome.ts';
import type { PageInput, RobotsHop } from '../../src/core/page-input.ts';
import { INTERNAL_COST, isRetryable, retryDelayMs } from '../../src/core/retry-policy.ts';
import { OutcomeLabel } from '../labels.ts';
import { robotsHopQuery } from '../messages.ts';
import { runStep } from '../run-step.ts';
import { fetchWithLease, isQuickKind } from './fetch-with-lease.ts';
import { finalFailureReason, persistAttempt } from './persist-attempt.ts';
import { type GrantedSlot, type NoSlot, SlotClient, type SlotRequest } from './slot-client.ts';
import { startPages } from './start-pages.ts';
import { persistEvent, persistRequest, sleepUntil } from './steps.ts';

/** After this many refused leases in a row a worker is slow: pause before the next ask. */
const REFUSALS_BEFORE_PAUSE = 3;

/** What people read in Temporal once the workflow has ended. */
export interface PageResult extends Omit<PageSummary, 'status'> {
  /** null: an earlier run of the same step had recorded the page. */
  status: PageStatus | null;
  /** Of the last attempt; null: there was none. */
  outcome: Outcome | null;
  attempts: number;
}

export async function CrawlPage(input: PageInput): Promise<PageResult> {
  const slots = new SlotClient(input);
  const visit = new PageVisit(input, slots);
  try {
    await visit.run();
    return visit.result();
  } catch (error) {
    if (!isCancellation(error)) {
      const reason = finalFailureReason(error);
      if (reason === null) throw error;
      const end = { kind: 'ended', status: 'Failed', reason, ...visit.unrecorded() } as const;
      const { page } = await persistEvent(input, end);
      return visit.result(page);
    }
    await CancellationScope.nonCancellable(async () => {
      await slots.giveBack();
      const reason = 'the page was cancelled';
      await persistEvent(input, { kind: 'ended', status: 'Cancelled', reason, ...visit.unrecorded() });
    });
    throw error;
  }
}

/** Its methods that return a boolean say whether the page continues, that is, asks for another slot. */
class PageVisit {
  private attempt: number;
  private internalCost: number;
  private refusals = 0;
  private robotsHop: RobotsHop | null;
  /** The next ask is for the very next slot: this page has just spent one on robots.txt. */
  private atFront = false;
  /** A request that was sent and is not recorded yet: it will be, whatever happens to the page. */
  private request: RequestRecord | null = null;
  /** When the current attempt first asked for a slot. */
  private askedAt: number | null = null;
  private readonly label: OutcomeLabel;
  private outcome: Outcome | null = null;
  private attempts: number;
  private summary: PageSummary | undefined;

  constructor(
    private readonly input: PageInput,
    private readonly slots: SlotClient,
  ) {
    this.attempts = input.page.attempts;
    this.attempt = this.attempts + 1;
    this.label = new OutcomeLabel(input.settings.labels);
    this.internalCost = input.carry?.internalCost ?? 0;
    this.robotsHop = input.carry?.robotsHop ?? null;
    setHandler(robotsHopQuery, () => this.robotsHop);
  }

  async run(): Promise<void> {
    const { nextAt } = this.input.page;
    if (nextAt !== null) await sleepUntil(nextAt, 'next attempt');
    for (;;) {
      const slot = await this.slots.acquire(this.slotRequest());
      if (slot.kind === 'continue-as-new') return this.continueAsNew();
      if (slot.kind === 'page-over') return this.end(slot.crawlOver);
      this.askedAt ??= slot.askedAt;
      const continues = slot.kind === 'granted' ? await this.useSlot(slot) : await this.handleNoSlot(slot);
      if (!continues) return;
    }
  }

  result(summary = this.summary): PageResult {
    const { outcome, attempts } = this;
    return { status: null, title: null, links: 0, ...summary, outcome, attempts };
  }

  unrecorded(): { request?: RequestRecord } {
    return this.request === null ? {} : { request: this.request };
  }

  /**
   * A page waits for a robots.txt that was redirected to another domain no longer than its claim lasts: otherwise a domain
   * that is paused, blocked or slow would hold up this one, page by page.
   */
  private slotRequest(): SlotRequest {
    const { page, settings } = this.input;
    const { domain, url } = this.robotsHop ?? page;
    const withinMs = domain === page.domain ? null : settings.fetch.totalTimeoutMs;
    const mayStay = isQuickKind(page, this.robotsHop);
    return { domain, origin: new URL(url).origin, atFront: this.atFront, withinMs, mayStay };
  }

  private async useSlot(slot: GrantedSlot): Promise<boolean> {
    const { attempt, robotsHop } = this;
    const askedAt = this.askedAt ?? slot.askedAt;
    const result = await fetchWithLease(this.input, this.slots, slot, { attempt, robotsHop, askedAt });
    // A quick fetch has a result even if its page is being cancelled; then the next step throws.
    this.request = result.request ?? (result.kind === 'attempt' ? result.report.request : null);
    await this.deliver(result, slot);
    return this.handleFetchResult(result, slot.lease.notBefore);
  }

  /** Delivers what the fetch could not: its report to the throttle and its request to the database. */
  private async deliver(
    { undelivered, request }: FetchResult,
    { domain, lease }: GrantedSlot,
  ): Promise<void> {
    if (undelivered !== undefined) await this.slots.release(domain, lease.id, undelivered);
    if (request === undefined) return;
    await persistRequest(this.input, request);
    this.request = null;
  }

  /** The site cannot be reached, as another page found out. This costs no attempt, unless the outage lasts too long. */
  private async handleNoSlot(slot: NoSlot): Promise<boolean> {
    const hop = this.robotsHop;
    this.atFront = false;
    this.robotsHop = null;
    // Only the place that robots.txt was moved to is unavailable; the origin itself is not.
    if (hop !== null) return this.handleRobotsUnavailable(hop.origin, slot.reason);
    // Only a hop has a time limit.
    if (slot.kind === 'timed-out') return true;
    const { until, since, reason, givenUp } = slot;
    if (!givenUp) return this.wait(until, reason);
    const now = Date.now();
    const error = `${reason} Given up after ${formatDuration(now - since)} without a connection.`;
    return this.concludeAttempt(reportWithoutRequest('Failed', 'down', error, now), { isFinal: true });
  }

  private async handleRobotsUnavailable(origin: string, error: string): Promise<boolean> {
    const { pageId } = this.input.page;
    const result = await runStep(
      'recordRobotsUnavailable',
      `record that robots.txt of ${origin} is unavailable`,
      {
        origin,
        pageId,
        error,
      },
    );
    return this.handleFetchResult(result, Date.now());
  }

  private async handleFetchResult(result: FetchOutcome, notBefore: number): Promise<boolean> {
    this.atFront = false;
    if (result.kind !== 'refused') this.refusals = 0;
    switch (result.kind) {
      case 'refused':
        this.refusals += 1;
        if (this.refusals > REFUSALS_BEFORE_PAUSE) await this.pause(`slot not used: ${result.reason}`);
        return true;
      case 'robots-read':
        this.robotsHop = null;
        this.atFront = true;
        return true;
      case 'robots-moved':
        this.robotsHop = result.hop;
        this.atFront = true;
        return true;
      case 'deferred':
        this.robotsHop = null;
        return this.wait(result.until, result.reason);
      case 'internal-error':
        return this.handleInternalError(result, notBefore);
      case 'attempt':
        return this.concludeAttempt(result.report);
      case 'recorded':
        await startPages(this.input.crawlId, this.input.settings, result.persisted.start);
        this.showAttempt(result.outcome, result.persisted.page);
        return false;
    }
  }

  /** One failure on our side costs no attempt; several do together. */
  private async handleInternalError(
    { reason, sent, cost }: Extract<FetchOutcome, { kind: 'internal-error' }>,
    notBefore: number,
  ): Promise<boolean> {
    this.internalCost += cost;
    if (this.internalCost < INTERNAL_COST.attempt) {
      if (!sent) await this.pause(`failed on our side: ${reason}`);
      return true;
    }
    this.internalCost = 0;
    const [kind, what] = sent
      ? ['lost', 'The fetch was lost too often; the last time']
      : ['internal', 'The fetch failed on our side too often; the last time, with nothing sent'];
    const finishedAt = Math.max(Date.now(), notBefore);
    return this.concludeAttempt(reportWithoutRequest('Failed', kind, `${what}: ${reason}`, finishedAt));
  }

  /** Records an attempt that counts and, if another one is due, waits for it. */
  private async concludeAttempt(report: AttemptReport, { isFinal } = { isFinal: false }): Promise<boolean> {
    const { retry } = this.input.settings;
    const mayRetry = isRetryable(report.outcome) && !isFinal;
    const attemptsBefore = this.input.page.attemptsBefore ?? 0;
    const delayMs = mayRetry ? retryDelayMs(retry, this.attempt - attemptsBefore, Math.random) : null;
    const retryAt = delayMs === null ? null : Date.now() + delayMs;
    const { attempt } = this;
    const { continues, page, outcome } = await persistAttempt(this.input, {
      kind: 'attempt',
      attempt,
      report,
      slotWaitMs: slotWaitMs(report, this.askedAt),
      retryAt,
    });
    this.request = null;
    this.showAttempt(outcome, page);
    if (!continues || retryAt === null) return false;
    await sleepUntil(retryAt, `retry ${attempt + 1} of ${attemptsBefore + retry.maximumAttempts}`);
    this.attempt += 1;
    this.internalCost = 0;
    this.askedAt = null;
    return true;
  }

  /** In the workflow's label and in its result. */
  private showAttempt(outcome: Outcome, page: PageSummary | undefined): void {
    this.label.show(outcome);
    this.outcome = outcome;
    this.attempts = this.attempt;
    this.summary = page;
  }

  /** A wait that is not the page's fault. A long one gives up its place in the window. */
  private async wait(until: number, reason: string): Promise<boolean> {
    if (until - Date.now() > this.input.settings.longWaitMs) {
      const { continues, page } = await persistEvent(this.input, { kind: 'waiting', until, reason });
      this.summary = page;
      if (!continues) return false;
    }
    await sleepUntil(until, `${reason} Next try`);
    return true;
  }

  private async pause(why: string): Promise<void> {
    await sleep(this.input.settings.asking.pauseMs, { summary: truncateSummary(why) });
  }

  private async end(crawlOver: boolean): Promise<void> {
    if (!crawlOver) return;
    const end = { kind: 'ended', status: 'Cancelled', reason: 'the crawl is over' } as const;
    this.summary = (await persistEvent(this.input, end)).page;
  }

  private async continueAsNew(): Promise<void> {
    const page = { ...this.input.page, attempts: this.attempt - 1, nextAt: null };
    const { internalCost, robotsHop } = this;
    const carry = { ...this.slots.carry(), internalCost, robotsHop };
    await continueAsNew<typeof CrawlPage>({ ...this.input, page, carry });
  }
}
