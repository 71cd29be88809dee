/** Crawls as people read them: a table of all, a summary of one, or everything about one. */
import { formatDuration } from '../../core/format.ts';
import { describePause } from '../../operator/describe-domain.ts';
import type { WorkStatus } from '../../operator/work-status.ts';
import type { RetryProgress } from '../../storage/frontier/retry.ts';
import type { RecordedOrder } from '../../storage/orders.ts';
import {
  type DomainCounts,
  hasEnded,
  type OpenPage,
  openPages,
  type Progress,
} from '../../storage/reports/progress.ts';
import { type CommonOptions, formatCommand } from '../common-options.ts';
import { formatClock, formatIn, formatPlural, indent, renderTable } from './text.ts';

export interface CrawlReport {
  progress: Progress;
  work: WorkStatus;
}

export interface CrawlDetails extends CrawlReport {
  domains: readonly DomainCounts[];
  open: readonly OpenPage[];
  /** Who paused it, and why. Of a paused one. */
  pausedBy?: RecordedOrder | null;
  /** Of the last order to retry pages. null: there is none. */
  retry?: { order: RecordedOrder; progress: RetryProgress } | null;
}

export function renderCrawls(crawls: readonly CrawlReport[]): string[] {
  const headers = ['Crawl', 'Status', 'Found', 'Fetched', 'Failed', 'Open', 'Time'];
  const rows = crawls.map(({ progress, work }) => [
    progress.crawl,
    hasEnded(progress) || work.active ? progress.status : `${progress.status} (stalled)`,
    progress.found,
    progress.pages.Fetched,
    progress.pages.Failed,
    openPages(progress),
    formatDuration(progress.seconds * 1_000),
  ]);
  return renderTable(headers, rows);
}

export function renderCrawl(
  { progress, work, domains, open, pausedBy, retry }: CrawlDetails,
  options: CommonOptions,
  now: Date,
): string[] {
  const { crawl, status } = progress;
  const hints = [
    ...(hasEnded(progress) || work.active ? [] : [describeInactive(crawl, work.reason, options)]),
    ...(pausedBy ? [`Paused ${describePause(pausedBy)}.`] : []),
    ...(status === 'Paused' ? [`To resume it: ${formatCommand(['resume', crawl], options)}`] : []),
  ];
  return [
    headline(progress, work.active),
    ...hints,
    ...(retry ? [describeRetry(retry, now)] : []),
    ...countTables(progress),
    '',
    ...domainTable(domains),
    ...openTable(open, now),
  ];
}

function describeRetry({ order, progress }: NonNullable<CrawlDetails['retry']>, now: Date): string {
  const { pages, done, byStatus } = progress;
  const counts = Object.entries(byStatus).map(([status, count]) => `${count} ${status}`);
  return `Retry at ${formatClock(order.givenAt, now)}: ${done} of ${formatPlural(pages, 'page')} done (${counts.join(', ')}).`;
}

export function describeInactive(crawlId: string, reason: string, options: CommonOptions): string {
  return `It is stalled: ${reason}. To continue it: ${formatCommand(['crawl', '--id', crawlId], options)}`;
}

/** Without asking whether an unfinished crawl is being worked on: this process has just worked on it. */
export function renderSummary(progress: Progress): string[] {
  return [headline(progress, true), ...countTables(progress)];
}

function countTables({ pages, sitemaps, attempts, skipped }: Progress): string[] {
  return [
    ...countTable('Pages', pages),
    ...countTable('Sitemaps', sitemaps),
    ...countTable('Attempts', attempts),
    ...countTable('Links not followed', skipped),
  ];
}

function headline(progress: Progress, active: boolean): string {
  const { crawl, status, reason } = progress;
  const time = formatDuration(progress.seconds * 1_000);
  const found = `${formatPlural(progress.found, 'page')} found`;
  const open = `${formatPlural(openPages(progress), 'page')} still open`;
  switch (status) {
    case 'Completed':
      return `Crawl ${crawl} completed in ${time}: ${found}.${because(reason)}`;
    case 'Cancelled':
      return `Crawl ${crawl} was cancelled after ${time}: ${found}.${because(reason)}`;
    case 'Failed':
      return `Crawl ${crawl} failed after ${time}: ${found}.${because(reason)}`;
    case 'Running':
    case 'Paused':
    case 'Cancelling': {
      const state = active ? status.toLowerCase() : `unfinished (${status})`;
      return `Crawl ${crawl} is ${state}, started ${time} ago: ${found}, ${open}.${because(reason)}`;
    }
  }
}

function because(reason: string | null): string {
  return reason === null ? '' : ` Reason: ${reason}${reason.endsWith('.') ? '' : '.'}`;
}

/** Nothing if there is nothing to count. */
function countTable(name: string, counts: Readonly<Record<string, number>>): string[] {
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  if (rows.length === 0) return [];
  const total = rows.reduce((sum, [, count]) => sum + count, 0);
  return ['', ...indent(renderTable([name, 'Count'], [...rows, ['total', total]]))];
}

function domainTable(domains: readonly DomainCounts[]): string[] {
  const rows = domains.map((row) => [
    row.domain,
    row.found,
    row.fetched,
    row.failed,
    row.open,
    row.paused ? 'paused' : '',
  ]);
  return indent(renderTable(['Domain', 'Found', 'Fetched', 'Failed', 'Open', ''], rows));
}

/** Answers for each page: what was tried, what comes next and when, and why it is not fetched yet. */
function openTable(pages: readonly OpenPage[], now: Date): string[] {
  if (pages.length === 0) return [];
  const rows = pages.map((page) => [
    page.url,
    page.status,
    page.attempts,
    nextStep(page, now),
    page.reason ?? '',
  ]);
  return ['', ...indent(renderTable(['Open page', 'Status', 'Attempts', 'Next', 'Reason'], rows))];
}

function nextStep({ status, nextAttemptAt }: OpenPage, now: Date): string {
  if (nextAttemptAt) return formatIn(nextAttemptAt.getTime(), now);
  return status === 'Queued' ? 'when its domain has a slot' : '';
}
