/** How a crawl ended, in a sentence and two small tables. */
import { formatDuration } from '../../core/format.ts';
import { openPages, type Progress } from '../../storage/reports/progress.ts';
import { renderTable } from './table.ts';

/** `atWork`: whether anybody works on it, unless it has ended. */
export function renderSummary(progress: Progress, atWork = true): string[] {
  return [
    `${headline(progress, atWork)}${progress.reason ? ` (${progress.reason})` : ''}`,
    '',
    ...countTable('Pages', progress.pages, progress.found),
    ...sitemapTable(progress),
    '',
    ...countTable('Attempts', progress.attempts, sum(progress.attempts)),
    ...skippedTable(progress.skipped),
  ];
}

function headline(progress: Progress, atWork: boolean): string {
  const took = formatDuration(progress.seconds * 1_000);
  const found = `${progress.found.toLocaleString('en')} pages found`;
  const open = `${openPages(progress).toLocaleString('en')} still open`;
  switch (progress.status) {
    case 'Completed':
      return `Crawl ${progress.crawl} completed in ${took}: ${found}.`;
    case 'Cancelled':
      return `Crawl ${progress.crawl} was cancelled after ${took}: ${found}.`;
    case 'Failed':
      return `Crawl ${progress.crawl} failed after ${took}: ${found}.`;
    case 'Running':
    case 'Paused':
    case 'Cancelling':
      return atWork
        ? `Crawl ${progress.crawl} is ${progress.status.toLowerCase()}, for ${took} so far: ${found}, ${open}.`
        : `Crawl ${progress.crawl} is unfinished (${progress.status}), begun ${took} ago: ${found}, ${open}.`;
  }
}

function sitemapTable({ sitemaps }: Progress): string[] {
  return sum(sitemaps) === 0 ? [] : ['', ...countTable('Sitemaps', sitemaps, sum(sitemaps))];
}

function skippedTable(skipped: Progress['skipped']): string[] {
  const total = sum(skipped);
  return total === 0 ? [] : ['', ...countTable('Links not followed', skipped, total)];
}

function countTable(name: string, counts: Readonly<Record<string, number>>, total: number): string[] {
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  return renderTable([name, 'Count'], [...rows, ['all', total]]).map((line) => `  ${line}`);
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
