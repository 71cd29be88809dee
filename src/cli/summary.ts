/** How a crawl ended, in a sentence and two small tables. */
import { openPages, type Progress } from '../storage/progress.ts';
import { inWords } from './progress/words.ts';
import { renderTable } from './table.ts';

export function renderSummary(progress: Progress): string[] {
  return [
    `${headline(progress)}${progress.reason ? ` (${progress.reason})` : ''}`,
    '',
    ...countTable('Pages', progress.pages, progress.found),
    '',
    ...countTable('Attempts', progress.attempts, sum(progress.attempts)),
  ];
}

function headline(progress: Progress): string {
  const took = inWords(progress.seconds);
  const found = `${progress.found.toLocaleString('en')} pages found`;
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
      return `Crawl ${progress.crawl} is ${progress.status.toLowerCase()}, for ${took} so far: ${found}, ${openPages(progress).toLocaleString('en')} still open.`;
  }
}

function countTable(name: string, counts: Readonly<Record<string, number>>, total: number): string[] {
  const rows = Object.entries(counts).filter(([, count]) => count > 0);
  return renderTable([name, 'Count'], [...rows, ['all', total]]).map((line) => `  ${line}`);
}

function sum(counts: Readonly<Record<string, number>>): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
