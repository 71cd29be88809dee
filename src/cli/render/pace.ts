/** How fast a crawl goes, from what was seen of it lately. */
import { donePages, openPages, type Progress } from '../../storage/reports/progress.ts';

/** Long enough to smooth out a domain's gaps, short enough to notice that a big one has finished. */
const WINDOW_SECONDS = 30;

export interface Sample {
  seconds: number;
  done: number;
}

export interface Pace {
  /** null: not known yet. */
  pagesPerSecond: number | null;
  /** If no further page were found; null: not known, or nothing moves. */
  secondsLeft: number | null;
}

/** The samples to keep, this one included; the oldest kept is at least a window old, if there is one. */
export function remember(samples: readonly Sample[], progress: Progress): Sample[] {
  const all = [...samples, { seconds: progress.seconds, done: donePages(progress) }];
  const start = all.findLastIndex((sample) => progress.seconds - sample.seconds >= WINDOW_SECONDS);
  return all.slice(Math.max(0, start));
}

export function paceOf(samples: readonly Sample[], progress: Progress): Pace {
  const [oldest, newest] = [samples[0], samples.at(-1)];
  const span = oldest && newest ? newest.seconds - oldest.seconds : 0;
  if (!oldest || !newest || span <= 0) return { pagesPerSecond: null, secondsLeft: null };
  const pagesPerSecond = (newest.done - oldest.done) / span;
  return { pagesPerSecond, secondsLeft: pagesPerSecond > 0 ? openPages(progress) / pagesPerSecond : null };
}
