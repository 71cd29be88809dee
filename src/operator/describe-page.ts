/** One sentence about a page: where it is now, and why it is not further. */
import { formatClock, formatDuration, formatIn, formatPlural, ordinal } from '../core/format.ts';
import type { RobotsHop } from '../core/page-input.ts';
import type { RecordedOrder } from '../storage/orders.ts';
import { MAX_COUNTED_BEFORE, type PageReport } from '../storage/reports/page-report.ts';
import { nextSlotAt, type PageSlot, type ThrottleView } from '../throttle/view.ts';
import { originOf } from '../urls/index.ts';
import { describePause, findDomainBlock, GAP_REASONS } from './describe-domain.ts';
import type { DomainReport } from './domains.ts';
import type { WorkStatus } from './work-status.ts';

/** What a throttle knows about a page. */
export interface SlotStatus {
  slot: PageSlot;
  domain: ThrottleView;
  /** Of that domain, if it is paused. */
  pausedBy?: RecordedOrder | null;
  /** Set: this is the throttle of another domain, which the page's robots.txt redirects to. */
  robots?: RobotsHop;
}

/** What matters to a page beside its own rows. */
export interface PageContext {
  /** Of a page in progress; null: the throttle is not running, or no worker answers for it. */
  slot: SlotStatus | null;
  /** Of a page that is pending or in progress. */
  domain: DomainReport | null;
  /** null: the page has ended. */
  work: WorkStatus | null;
}

export function describePage(report: PageReport, context: PageContext, now: Date): string {
  const { page, crawl, robotsFailure } = report;
  const { slot, domain } = context;
  const stopped = crawlStopped(crawl);
  switch (page.status) {
    case 'Pending':
      return stopped ?? describePending(report, domain, now);
    case 'Waiting':
      return stopped ?? describeWaiting(report, now);
    case 'Queued':
      if (slot?.slot.kind === 'granted' && !crawl.stoppedBy) return describeSlot(page, slot, now);
      if (stopped !== null) return stopped;
      if (slot?.slot.kind === 'waiting') return describeSlot(page, slot, now);
      if (page.nextAttemptAt !== null && page.nextAttemptAt > now) return describeWaiting(report, now);
      if (robotsFailure !== null && robotsFailure.retryAt > now)
        return `its robots.txt has been unavailable since ${formatClock(robotsFailure.since, now)} (${robotsFailure.error}); next attempt at ${formatClock(robotsFailure.retryAt, now)}.`;
      return slot === null ? describeUnanswered(page, context, now) : describeSlot(page, slot, now);
    case 'Fetched':
      return `status ${page.statusCode}${page.fetchedAt === null ? '' : ` at ${formatClock(page.fetchedAt, now)}`}${page.title === null ? '.' : `, "${page.title}".`}`;
    case 'Redirected':
      return `to ${page.redirectTo}${page.reason === null ? '.' : `, ${page.reason}.`}`;
    case 'Failed':
      return `${page.reason ?? 'no reason on record.'}${page.attempts === 0 ? '' : ` This was attempt ${page.attempts} of ${crawl.maximumAttempts}.`}`;
    case 'Rejected':
    case 'Blocked':
    case 'Cancelled':
      return page.reason ?? 'no reason on record.';
  }
}

/** null: the crawl is running. */
function crawlStopped({ status, pausedBy, stoppedBy }: PageReport['crawl']): string | null {
  if (stoppedBy) return `everything is stopped ${describePause(stoppedBy)}.`;
  if (status === 'Paused')
    return pausedBy ? `the crawl is paused ${describePause(pausedBy)}.` : 'the crawl is paused.';
  return status === 'Cancelling' ? 'the crawl is being cancelled.' : null;
}

function describePending(report: PageReport, domain: DomainReport | null, now: Date): string {
  const { page, crawl, before } = report;
  if (page.nextAttemptAt !== null)
    return `not before ${formatClock(page.nextAttemptAt, now)} (${formatIn(page.nextAttemptAt.getTime(), now)}): ${page.reason ?? 'it was deferred.'}`;
  const { pending: ahead, queued } = before ?? { pending: 0, queued: 0 };
  const turn =
    ahead === 0
      ? 'next to start'
      : `behind ${ahead >= MAX_COUNTED_BEFORE ? 'at least ' : ''}${formatPlural(ahead, 'other page')}`;
  if (page.kind === 'sitemap')
    return `${turn}; sitemaps of ${page.domain} are read one at a time, and only while the crawl may fetch more pages than it has found${domainClause(page, domain, now)}`;
  return (
    budgetUsed(crawl) ??
    warmingUp(report, now) ??
    `${turn}; ${queued} of at most ${formatPlural(crawl.window, 'page')} of ${page.domain} ${queued === 1 ? 'is' : 'are'} in progress${domainClause(page, domain, now)}`
  );
}

/** null: more pages may start. */
function budgetUsed({ budget }: PageReport['crawl']): string | null {
  if (budget === null || budget.reserved < budget.maxPages) return null;
  return `the crawl's budget is used up (maxPages: ${budget.maxPages}); the page starts only if a page in progress turns out not to be fetched, and is cancelled otherwise.`;
}

/** null: the warm-up is over, or does not concern this page. */
function warmingUp({ page, crawl: { warmup } }: PageReport, now: Date): string | null {
  if (warmup === null || page.isSeed) return null;
  return `the crawl is warming up: only seeds are fetched until they are done, ${warmup.pending} pages are pending, or it is ${formatClock(warmup.until, now)} (${formatIn(warmup.until.getTime(), now)}).`;
}

/** The end of a sentence: what blocks the domain, or how fast it goes. */
function domainClause(page: PageReport['page'], domain: DomainReport | null, now: Date): string {
  const block = domain && findDomainBlock(domain, originOf(page.url), now);
  if (block) return `; ${block.origin ?? 'the domain'} ${block.predicate}`;
  const live = domain?.live;
  if (!live || live.gapMs === 0) return '.';
  const nextAt = nextSlotAt(live, now);
  const next = nextAt === null ? '' : `; next slot ${formatIn(nextAt, now)}`;
  return `${next}; ${gapClause(live)}`;
}

function gapClause({ gapMs, gapReason }: ThrottleView): string {
  return `the gap is ${formatDuration(gapMs)} because of ${GAP_REASONS[gapReason]}.`;
}

function describeWaiting({ page, crawl, attempts, robotsFailure }: PageReport, now: Date): string {
  const { nextAttemptAt } = page;
  if (nextAttemptAt === null) return page.reason ?? 'about to continue.';
  const when = `at ${formatClock(nextAttemptAt, now)} (${formatIn(nextAttemptAt.getTime(), now)})`;
  const isRetry = attempts.at(-1)?.nextAttemptAt?.getTime() === nextAttemptAt.getTime();
  if (isRetry)
    return `attempt ${page.attempts + 1} of ${crawl.maximumAttempts} ${when}, after ${page.reason}`;
  const unread =
    robotsFailure === null
      ? ''
      : ` Its robots.txt has been unavailable since ${formatClock(robotsFailure.since, now)}.`;
  return `next attempt ${when}: ${page.reason ?? 'it was deferred.'}${unread}`;
}

function describeSlot(page: PageReport['page'], status: SlotStatus, now: Date): string {
  const { slot, robots } = status;
  const requested = robots ?? page;
  const first = robots === undefined ? '' : `for its robots.txt, redirected to ${robots.url}: `;
  switch (slot.kind) {
    case 'granted':
      return first + describeGranted(requested, slot, status, now);
    case 'waiting':
      return first + describeWithoutSlot(requested, slot, status, now);
    case 'absent':
      return `${first}in progress: about to ask for a slot, or being recorded.`;
  }
}

function describeUnanswered(page: PageReport['page'], { domain, work }: PageContext, now: Date): string {
  const block = domain && findDomainBlock(domain, originOf(page.url), now);
  const waiting = `waiting for a slot of ${page.domain}`;
  // A stalled crawl has a line of its own in the report.
  const unanswered = work?.active === false ? waiting : `${waiting}, whose throttle does not answer`;
  return block
    ? `${unanswered}; when last stored, ${block.origin ?? 'the domain'} ${block.predicate}`
    : `${unanswered}.`;
}

type At<K> = Extract<PageSlot, { kind: K }>;

function describeGranted(
  { domain, url }: Pick<RobotsHop, 'domain' | 'url'>,
  { notBefore, startBy }: At<'granted'>,
  { domain: view, pausedBy = null }: SlotStatus,
  now: Date,
): string {
  const slot = `its slot of ${domain} is at ${formatClock(notBefore, now)}`;
  if (notBefore <= now.getTime())
    return `being fetched, or about to be: ${slot}, and may be used until ${formatClock(startBy, now)}.`;
  const block = findDomainBlock({ domain, live: view, known: null, pausedBy }, originOf(url), now);
  return block === null
    ? `${slot} (${formatIn(notBefore, now)}); ${gapClause(view)}`
    : `${slot}, but ${block.origin ?? 'the domain'} ${block.predicate}`;
}

function describeWithoutSlot(
  { domain, url }: Pick<RobotsHop, 'domain' | 'url'>,
  { position, of, retryAt }: At<'waiting'>,
  { domain: view, pausedBy = null }: SlotStatus,
  now: Date,
): string {
  const place = `${ordinal(position)} of ${of} that wait for a slot of ${domain}`;
  const block = findDomainBlock({ domain, live: view, known: null, pausedBy }, originOf(url), now);
  if (block !== null)
    return `${place}${block.origin === null ? ', which' : `; ${block.origin}`} ${block.predicate}`;
  return `${place}; it asks again ${formatIn(retryAt, now)}; ${gapClause(view)}`;
}
