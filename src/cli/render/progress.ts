/** What the progress of a crawl looks like: a few lines for a terminal, one line for a log. */
import { formatDuration } from '../../core/format.ts';
import { donePages, type Progress } from '../../storage/reports/progress.ts';
import type { Pace } from './pace.ts';

export interface View {
  progress: Progress;
  pace: Pace;
}

const MOST_BAR_CELLS = 30;
const MARGIN = 2;

/** No line is wider than `width`: a line that wraps would spoil the redraw. */
export function renderLive({ progress, pace }: View, width: number): string[] {
  const done = donePages(progress);
  const lines = [
    `${progress.crawl}  ${progress.status}  ${formatDuration(progress.seconds * 1_000)}`,
    `${bar(done, progress.found, width)}  ${doneOfFound(progress)}${paceInWords(pace)}`,
    `pages     ${formatCounts(progress.pages) || 'none yet'}`,
    `attempts  ${formatCounts(progress.attempts) || 'none yet'}`,
  ];
  if (progress.cooling.length > 0) lines.push(`cooling   ${coolingInWords(progress)}`);
  return lines.map((line) => cut(`${' '.repeat(MARGIN)}${line}`, width));
}

export function renderPlain({ progress, pace }: View): string {
  const attempts = formatCounts(progress.attempts);
  return [
    `${progress.crawl}${progress.status === 'Paused' ? ' is paused' : ''}: ${doneOfFound(progress)}${paceInWords(pace)}`,
    ...(attempts ? [attempts] : []),
    ...(progress.cooling.length > 0 ? [`cooling down ${coolingInWords(progress)}`] : []),
  ].join('; ');
}

function doneOfFound(progress: Progress): string {
  return `${donePages(progress).toLocaleString('en')} of ${progress.found.toLocaleString('en')} pages`;
}

function paceInWords({ pagesPerSecond, secondsLeft }: Pace): string {
  const rate = pagesPerSecond === null ? '' : ` · ${pagesPerSecond.toFixed(1)} pages/s`;
  return secondsLeft === null ? rate : `${rate} · about ${formatDuration(secondsLeft * 1_000)} left`;
}

function coolingInWords({ cooling }: Progress): string {
  return cooling.map(({ domain, readyInMs }) => `${domain} in ${formatDuration(readyInMs)}`).join(', ');
}

/** `Fetched 12 · Failed 1`, without the zeros. */
function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${count.toLocaleString('en')}`)
    .join(' · ');
}

function bar(done: number, found: number, width: number): string {
  const cells = Math.max(0, Math.min(MOST_BAR_CELLS, Math.floor(width / 3)));
  const full = found === 0 ? 0 : Math.floor((done / found) * cells);
  return '█'.repeat(full) + '░'.repeat(cells - full);
}

function cut(line: string, width: number): string {
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}
