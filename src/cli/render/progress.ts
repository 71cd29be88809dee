/** The progress of a crawl: a few lines for a terminal, one line for a log, and the pace behind them. */
import { escapeControls, formatDuration } from '../../core/format.ts';
import { donePages, openPages, type Progress } from '../../storage/reports/progress.ts';
import { formatCount } from './text.ts';

export interface ProgressView {
  progress: Progress;
  pace: Pace;
}

const MAX_BAR_CELLS = 30;
const MARGIN = 2;

/** No line is wider than `width`: a wrapped line would break the redraw. */
export function renderLive({ progress, pace }: ProgressView, width: number): string[] {
  const done = donePages(progress);
  const lines = [
    `${progress.crawl}  ${progress.status}  ${formatDuration(progress.seconds * 1_000)}`,
    `${bar(done, progress.found, width)}  ${doneOfFound(progress)}${formatPace(pace)}`,
    `pages     ${formatCounts(progress.pages) || 'none yet'}`,
    `attempts  ${formatCounts(progress.attempts) || 'none yet'}`,
  ];
  if (progress.cooling.length > 0) lines.push(`waiting   ${formatCooling(progress)}`);
  return lines.map((line) => cut(`${' '.repeat(MARGIN)}${line}`, width));
}

export function renderPlain({ progress, pace }: ProgressView): string {
  const attempts = formatCounts(progress.attempts);
  return [
    `${progress.crawl}${progress.status === 'Paused' ? ' (paused)' : ''}: ${doneOfFound(progress)}${formatPace(pace)}`,
    ...(attempts ? [attempts] : []),
    ...(progress.cooling.length > 0 ? [`waiting for ${formatCooling(progress)}`] : []),
  ].join('; ');
}

function doneOfFound(progress: Progress): string {
  return `${formatCount(donePages(progress))} of ${formatCount(progress.found)} pages`;
}

function formatPace({ pagesPerSecond, secondsLeft }: Pace): string {
  const rate = pagesPerSecond === null ? '' : ` · ${pagesPerSecond.toFixed(1)} pages/s`;
  // In whole seconds: it is an estimate.
  return secondsLeft === null
    ? rate
    : `${rate} · about ${formatDuration(Math.ceil(secondsLeft) * 1_000)} left`;
}

function formatCooling({ cooling }: Progress): string {
  return cooling.map(({ domain, readyInMs }) => `${domain} (${formatDuration(readyInMs)})`).join(', ');
}

/** `Fetched 12 · Failed 1`, without the zeros. */
function formatCounts(counts: Readonly<Record<string, number>>): string {
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([name, count]) => `${name} ${formatCount(count)}`)
    .join(' · ');
}

function bar(done: number, found: number, width: number): string {
  const cells = Math.max(0, Math.min(MAX_BAR_CELLS, Math.floor(width / 3)));
  const full = found === 0 ? 0 : Math.floor((done / found) * cells);
  return '█'.repeat(full) + '░'.repeat(cells - full);
}

/** Escaped first: that makes a line longer. */
function cut(written: string, width: number): string {
  const line = escapeControls(written);
  return line.length <= width ? line : `${line.slice(0, Math.max(0, width - 1))}…`;
}

/** Long enough to smooth out a domain's gaps, short enough to notice that a big one has finished. */
const WINDOW_SECONDS = 30;

export interface Sample {
  seconds: number;
  done: number;
}

export interface Pace {
  /** null: not known yet. */
  pagesPerSecond: number | null;
  /** If no more pages are found; null: not known, or nothing moves. */
  secondsLeft: number | null;
}

/** The samples to keep, with the new one; the oldest is at least a window old, once there is one. */
export function addSample(samples: readonly Sample[], progress: Progress): Sample[] {
  const all = [...samples, { seconds: progress.seconds, done: donePages(progress) }];
  const start = all.findLastIndex((sample) => progress.seconds - sample.seconds >= WINDOW_SECONDS);
  return all.slice(Math.max(0, start));
}

export function paceOf(samples: readonly Sample[], progress: Progress): Pace {
  const [oldest, newest] = [samples[0], samples.at(-1)];
  const windowSeconds = oldest && newest ? newest.seconds - oldest.seconds : 0;
  if (!oldest || !newest || windowSeconds <= 0) return { pagesPerSecond: null, secondsLeft: null };
  const pagesPerSecond = (newest.done - oldest.done) / windowSeconds;
  return { pagesPerSecond, secondsLeft: pagesPerSecond > 0 ? openPages(progress) / pagesPerSecond : null };
}
