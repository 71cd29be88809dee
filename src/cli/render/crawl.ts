/** Crawls as people read them: a table of all, a summary of one, or everything about one. */
import { formatDuration } from '../../core/format.ts';
import {
  type DomainCounts,
  type OpenPage,
  openPages,
  type Progress,
} from '../../storage/reports/progress.ts';
import { type CommonOptions, formatCommand } from '../common-options.ts';
import { hasEnded } from '../connect/crawls.ts';
import type { WorkStatus } from '../connect/worker-status.ts';
import { formatIn, formatPlural, indent, renderTable } from './text.ts';

export interface CrawlReport {
  progress: Progress;
  work: WorkStatus;
}

export interface CrawlDetails extends CrawlReport {
  domains: readonly DomainCounts[];
  open: readonly OpenPage[];
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
  { progress, work, domains, open }: CrawlDetails,
  options: CommonOptions,
  now: Date,
): string[] {
  const { crawl, status } = progress;
  const inactive = hasEnded(progress) || work.active ? [] : [describeInactive(crawl, work.reason, options)];
  const paused = status === 'Paused' ? [`To resume it: ${formatCommand(['resume', crawl], options)}`] : [];
  const sections = [
    renderSummary(progress, work.active),
    inactive,
    paused,
    domainTable(domains),
    openTable(open, now),
  ];
  const [first = [], ...rest] = sections.filter((lines) => lines.length > 0);
  return [...first, ...rest.flatMap((lines) => ['', ...lines])];
}

export function describeInactive(crawlId: string, reason: string, options: CommonOptions): string {
  return `It is stalled: ${reason}. To continue it: ${formatCommand(['crawl', '--id', crawlId], options)}`;
}

/** `active`: whether an unfinished crawl is being worked on. */
export function renderSummary(progress: Progress, active = true): string[] {
  return [
    `${headline(progress, active)}${progress.reason ? ` (${progress.reason})` : ''}`,
    '',
    ...countTable('Pages', progress.pages, progress.found),
    ...optionalTable('Sitemaps', progress.sitemaps),
    '',
    ...countTable('Attempts', progress.attempts, sum(progress.attempts)),
    ...optionalTable('Links not followed', progress.skipped),
  ];
}

function headline(progress: Progress, active: boolean): string {
  const name = `Crawl ${progress.crawl}`;
  const time = formatDuration(progress.seconds * 1_000);
  const found = `${formatPlural(progress.found, 'page')} found`;
  const open = `${formatPlural(openPages(progress), 'page')} still open`;
  switch (progress.status) {
    case 'Completed':
      return `${name} completed in ${time}: ${found}.`;
    case 'Cancelled':
      return `${name} was cancelled after ${time}: ${found}.`;
    case 'Failed':
      return `${name} failed after ${time}: ${found}.`;
    case 'Running':
    case 'Paused':
    case 'Cancelling':
      return active
        ? `${name} is ${progress.status.toLowerCase()}, started ${time} ago: ${found}, ${open}.`
        : `${name} is unfinished (${progress.status}), started ${time} ago: ${found}, ${open}.`;
  }
}

function optionalTable(name: string, counts: Readonly<Record<string, number>>): string[] {
  const total = sum(counts);
  return total === 0 ? [] : ['', ...countTable(name, counts, total)];
}

function countTable(name: string, counts: Readonly<Record<string, number>>, total: number): string[] {
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  return indent(renderTable([name, 'Count'], [...rows, ['total', total]]));
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
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
  return indent(renderTable(['Open page', 'Status', 'Attempts', 'Next', 'Reason'], rows));
}

function nextStep({ status, nextAt }: OpenPage, now: Date): string {
  if (nextAt) return formatIn(nextAt.getTime(), now);
  return status === 'Queued' ? 'when its domain has a slot' : '';
}
