/**
 * One page, from its admission to its final status: ask for a slot, fetch, parse, persist, start what was found.
 * Every wait is a durable timer or a place in the throttle's line; while it waits, the page costs no worker anything.
 */
import { CancellationScope, continueAsNew, isCancellation, setHandler, sleep } from '@temporalio/workflow';
import type { AttemptEvent, ParseInput, PersistResult, Unreported } from '../../activities/index.ts';
import type { AttemptReport, ParsedRef, RequestRecord } from '../../src/core/attempt.ts';
import { formatDuration, truncateSummary } from '../../src/core/format.ts';
import { isRetryable } from '../../src/core/outcome.ts';
import type { PageInput, RobotsHop } from '../../src/core/page-input.ts';
import { retryDelayMs } from '../../src/core/retry-policy.ts';
import { robotsHopQuery } from '../messages.ts';
import { apart, local, readSitemap, regular } from '../proxies.ts';
import { durably } from '../run-step.ts';
import { FAILED_TO_RECORD, lastWord, type Parsed, unparsable, unsent, type Verdict } from './failures.ts';
import { spendSlot, wordOn } from './fetch-with-lease.ts';
import { type Slot, Slots, type Wanted } from './slot-client.ts';
import { digest, note, settle } from './steps.ts';

/** Fetches that were sent and never reported before the page is charged an attempt for them. */
const MOST_SENT_AND_LOST = 3;

/** After this many refused leases in a row something is slow: do not ask again at once. */
const PATIENT_REFUSALS = 3;

type Down = Extract<Slot, { kind: 'down' }>;
type Left = Extract<Slot, { kind: 'left' }>;

export async function CrawlPage(input: PageInput): Promise<void> {
  const slots = new Slots(input);
  const visit = new PageVisit(input, slots);
  try {
    await visit.run();
  } catch (error) {
    if (!isCancellation(error)) {
      const reason = lastWord(error, 'Unrecordable');
      if (reason === null) throw error;
      await settle(input, { kind: 'ended', status: 'Failed', reason, ...visit.unrecorded });
      return;
    }
    await CancellationScope.nonCancellable(async () => {
      await slots.leave();
      const reason = 'the page was cancelled';
      await settle(input, { kind: 'ended', status: 'Cancelled', reason, ...visit.unrecorded });
    });
    throw error;
  } finally {
    await slots.sentBack();
  }
}

class PageVisit {
  private attempt: number;
  private sentAndLost: number;
  private refusals = 0;
  private robotsHop: RobotsHop | null;
  /** The next ask goes to the head of the line: this page has just spent a slot on robots.txt. */
  private atFront = false;
  /** A request that went out and is not on record yet: whatever becomes of the page, it shall be. */
  unrecorded: { request?: RequestRecord } = {};
  /** When the present attempt first asked for a slot. */
  private askedAt: number | null = null;
  private readonly pauseMs: number;

  constructor(
    private readonly input: PageInput,
    private readonly slots: Slots,
  ) {
    this.attempt = input.page.attempts + 1;
    this.sentAndLost = input.carry?.sentAndLost ?? 0;
    this.robotsHop = input.carry?.robotsHop ?? null;
    this.pauseMs = input.settings.asking.pauseMs;
    setHandler(robotsHopQuery, () => this.robotsHop);
  }

  async run(): Promise<void> {
    const { nextAt } = this.input.page;
    if (nextAt !== null) await this.sleepUntil(nextAt, 'next attempt');
    for (;;) {
      const slot = await this.slots.acquire(this.wanted());
      if (slot.kind === 'renew') return this.renew();
      if (slot.kind === 'over') return this.end(slot.crawlOver);
      this.askedAt ??= slot.askedAt;
      if (slot.kind === 'down' || slot.kind === 'left') {
        if (await this.standAside(slot)) continue;
        return;
      }
      const result = await spendSlot(this.input, this.slots, slot, this.robotsHop);
      // A fetch that was quick has its result although its page is being cancelled: the next step is what throws.
      const request = result.unrecorded ?? (result.kind === 'attempt' ? result.report.request : null);
      if (request !== null) this.unrecorded = { request };
      // The fetch could not reach the throttle: say it for it, and wait until it is said.
      if (!result.reported) {
        const say = () => this.slots.giveBack(slot.domain, slot.lease.id, wordOn(result));
        await (result.anyhow ? CancellationScope.nonCancellable(say) : say());
      }
      if (result.unrecorded !== undefined) {
        await note(this.input, result.unrecorded);
        this.unrecorded = {};
      }
      const goesOn = await this.heed(result, slot.lease.notBefore);
      if (!goesOn) return;
    }
  }

  /**
   * A robots.txt that was redirected to another domain is waited for there no longer than its claim lasts: a domain that is paused,
   * blocked or slow would hold up this one, page by page.
   */
  private wanted(): Wanted {
    const { page, settings } = this.input;
    const { domain, url } = this.robotsHop ?? page;
    const withinMs = domain === page.domain ? null : settings.fetch.totalTimeoutMs;
    return { domain, origin: new URL(url).origin, atFront: this.atFront, withinMs };
  }

  /** The site cannot be reached, as another page found out: that costs this one no attempt, unless it has no end. */
  private async standAside(slot: Down | Left): Promise<boolean> {
    const hop = this.robotsHop;
    this.atFront = false;
    this.robotsHop = null;
    // It is its robots.txt that is out of reach, for every page of the origin; the origin itself is there.
    if (hop !== null) return this.missRobots({ origin: hop.origin, error: slot.why });
    // Only a hop has so little time.
    if (slot.kind === 'left') return true;
    const { until, since, why, givenUp } = slot;
    if (!givenUp) return this.wait(until, why);
    const now = Date.now();
    return this.conclude(
      unsent('down', `${why} Given up after ${formatDuration(now - since)} without a connection.`, now),
      { isLast: true },
    );
  }

  private async missRobots(what: { origin: string; error: string }): Promise<boolean> {
    const miss = { ...what, pageId: this.input.page.pageId };
    const summary = truncateSummary(`note that robots.txt of ${miss.origin} is out of reach`);
    const missed = await durably(
      () => local.missRobots.executeWithOptions({ summary }, [miss]),
      () => regular.missRobots.executeWithOptions(apart(summary), [miss]),
    );
    return this.heed(missed, Date.now());
  }

  /** What a fetch came to decides whether this page asks for another slot. */
  private async heed(result: Unreported, notBefore: number): Promise<boolean> {
    this.atFront = false;
    if (result.kind !== 'refused') this.refusals = 0;
    switch (result.kind) {
      case 'refused':
        this.refusals += 1;
        if (this.refusals > PATIENT_REFUSALS)
          await sleep(this.pauseMs, { summary: truncateSummary(`slot not used: ${result.reason}`) });
        return true;
      case 'robots-read':
        this.robotsHop = null;
        this.atFront = true;
        return true;
      case 'robots-moved':
        this.robotsHop = result.hop;
        this.atFront = true;
        return true;
      case 'held':
        this.robotsHop = null;
        return this.wait(result.until, result.reason);
      case 'trouble':
        return this.trouble(result, notBefore);
      case 'attempt':
        return this.conclude(result.report);
    }
  }

  /**
   * Trouble of our own costs no attempt; only a request that was sent and lost, or a bug, is counted, so that it has an end.
   */
  private async trouble(
    { reason, sent, counts = sent }: Extract<Unreported, { kind: 'trouble' }>,
    notBefore: number,
  ): Promise<boolean> {
    if (counts) this.sentAndLost += 1;
    if (this.sentAndLost < MOST_SENT_AND_LOST) {
      if (!sent) await sleep(this.pauseMs, { summary: truncateSummary(`trouble of our own: ${reason}`) });
      return true;
    }
    this.sentAndLost = 0;
    const [kind, what] = sent
      ? ['lost', `The fetch was lost ${MOST_SENT_AND_LOST} times; the last time`]
      : ['broken', `The fetch broke off ${MOST_SENT_AND_LOST} times; the last time, with nothing sent`];
    return this.conclude(unsent(kind, `${what}: ${reason}`, Math.max(Date.now(), notBefore)));
  }

  /** Records an attempt that counts; true when another one is due. */
  private async conclude(fetched: AttemptReport, { isLast } = { isLast: false }): Promise<boolean> {
    const document = this.documentOf(fetched);
    let inVain: unknown;
    if (document !== null) {
      const digested = await digest(this.input, document, this.eventOf(fetched, null, null));
      if (digested.ok) return false;
      inVain = digested.error;
    }
    const { report, parsed, poisoned } = await this.parse(fetched, document, inVain);
    const { retry } = this.input.settings;
    const again = isRetryable(report.outcome) && !poisoned && !isLast;
    const delay = again ? retryDelayMs(retry, this.attempt, Math.random) : null;
    const retryAt = delay === null ? null : Date.now() + delay;
    const { goesOn } = await this.record(this.eventOf(report, parsed, retryAt), inVain);
    this.unrecorded = {};
    if (!goesOn || retryAt === null || delay === null) return false;
    await this.sleepUntil(retryAt, `retry ${this.attempt + 1} of ${retry.maximumAttempts}`);
    this.attempt += 1;
    this.sentAndLost = 0;
    this.askedAt = null;
    return true;
  }

  private eventOf(report: AttemptReport, parsed: ParsedRef | null, retryAt: number | null): AttemptEvent {
    const startedAt = report.request?.startedAt ?? report.finishedAt;
    const slotWaitMs = Math.max(0, startedAt - (this.askedAt ?? startedAt));
    return { kind: 'attempt', attempt: this.attempt, report, parsed, slotWaitMs, retryAt };
  }

  /** What a bug keeps from being recorded ends the page Failed at last, with the reason and without what it brought. */
  private async record(event: AttemptEvent, inVain: unknown): Promise<PersistResult> {
    const tried = await this.tryAgain('record', 'Unrecordable', () => settle(this.input, event), inVain);
    if (tried.ok) return tried.value;
    const report = { ...event.report, ...FAILED_TO_RECORD, error: tried.reason };
    return settle(this.input, { ...event, report, parsed: null, retryAt: null });
  }

  /**
   * A step that finds this page at fault is tried again by the crawl's policy: a fix may be deployed within the hour. `inVain`: what
   * an earlier try threw, which counts if it was this step that found so.
   */
  private async tryAgain<T>(
    what: string,
    verdict: Verdict,
    step: () => Promise<T>,
    inVain?: unknown,
  ): Promise<{ ok: true; value: T } | { ok: false; reason: string }> {
    const { retry } = this.input.settings;
    for (let time = 1; ; time += 1) {
      try {
        if (time === 1 && lastWord(inVain, verdict) !== null) throw inVain;
        return { ok: true, value: await step() };
      } catch (error) {
        const reason = lastWord(error, verdict);
        if (reason === null) throw error;
        const delay = retryDelayMs(retry, time, Math.random);
        if (delay === null) return { ok: false, reason };
        await this.sleepUntil(Date.now() + delay, `${what} again, ${time + 1} of ${retry.maximumAttempts},`);
      }
    }
  }

  /** Its entries enter the frontier while it is read: what comes back, and is left to persist, is how many they were. */
  private async read(
    report: AttemptReport,
    { contentHash, contentType }: Extract<AttemptReport['found'], { kind: 'document' }>,
  ): Promise<Parsed> {
    const { crawlId, page } = this.input;
    const sitemap = { crawlId, pageId: page.pageId, url: page.url, contentHash, contentType };
    const summary = truncateSummary(`read the sitemap ${page.url}`);
    const tried = await this.tryAgain('read', 'Unparsable', () =>
      readSitemap.executeWithOptions(apart(summary), [sitemap]),
    );
    if (!tried.ok) return unparsable(report, tried.reason);
    const read = tried.value;
    if (read.ok) return { report: { ...report, error: read.remark }, parsed: read.parsed, poisoned: false };
    const rejected = { ...report, outcome: 'Rejected', errorKind: 'type', error: read.reason } as const;
    return { report: rejected, parsed: null, poisoned: false };
  }

  /** To be parsed; a sitemap is read in another way. */
  private documentOf({ found }: AttemptReport): ParseInput | null {
    const { page, crawlId } = this.input;
    if (found.kind !== 'document' || page.sitemap) return null;
    const { contentHash, contentType, contentLanguage } = found;
    return { crawlId, url: page.url, contentHash, contentType, contentLanguage };
  }

  private async parse(report: AttemptReport, document: ParseInput | null, inVain: unknown): Promise<Parsed> {
    if (report.found.kind === 'document' && this.input.page.sitemap) return this.read(report, report.found);
    if (document === null) return { report, parsed: null, poisoned: false };
    const summary = truncateSummary(`parse ${document.url}`);
    const step = () =>
      durably(
        () => local.parsePage.executeWithOptions({ summary }, [document]),
        () => regular.parsePage.executeWithOptions(apart(summary), [document]),
      );
    const tried = await this.tryAgain('parse', 'Unparsable', step, inVain);
    if (tried.ok) return { report, parsed: tried.value, poisoned: false };
    return unparsable(report, tried.reason);
  }

  /** A wait that is nobody's fault; a long one gives up this page's place in the window. */
  private async wait(until: number, reason: string): Promise<boolean> {
    if (until - Date.now() > this.input.settings.longWaitMs) {
      const { goesOn } = await settle(this.input, { kind: 'waiting', until, reason });
      if (!goesOn) return false;
    }
    await this.sleepUntil(until, `${reason} Again`);
    return true;
  }

  private async sleepUntil(at: number, why: string): Promise<void> {
    const ms = at - Date.now();
    if (ms > 0) await sleep(ms, { summary: truncateSummary(`${why} in ${formatDuration(ms)}`) });
  }

  private async end(crawlOver: boolean): Promise<void> {
    if (crawlOver)
      await settle(this.input, { kind: 'ended', status: 'Cancelled', reason: 'the crawl is over' });
  }

  private async renew(): Promise<void> {
    const page = { ...this.input.page, attempts: this.attempt - 1, nextAt: null };
    const carry = { ...this.slots.carry(), sentAndLost: this.sentAndLost, robotsHop: this.robotsHop };
    await continueAsNew<typeof CrawlPage>({ ...this.input, page, carry });
  }
}
