/** URLs that look as if a script generated them endlessly. Each URL is judged by itself; limits that need counting are in shape.ts. */
import type { TrapLimits } from '../core/settings.ts';

export type TrapReason = 'path too deep' | 'repeated segments';

/** Segments that are compared. Comparing takes quadratic time: the 1,000 that fit into a URL took 0.5 ms for every link. */
const MAX_COMPARED = 100;

/** `url` is a normalised URL. null: it does not look like a trap. */
export function detectTrap(url: string, limits: TrapLimits): TrapReason | null {
  const segments = segmentsOf(url);
  if (limits.maxPathDepth !== null && segments.length > limits.maxPathDepth) return 'path too deep';
  if (limits.maxRepeats !== null && repetitions(segments.slice(0, MAX_COMPARED)) > limits.maxRepeats)
    return 'repeated segments';
  return null;
}

/** Without empty segments. */
export function segmentsOf(url: string): string[] {
  return new URL(url).pathname.split('/').filter((segment) => segment !== '');
}

/**
 * How often one sequence of segments is repeated in a row: 3 for /a/b/a/b/a/b. A broken relative link adds one repetition each
 * time it is followed. Legitimate paths repeat a name once or twice, and seldom in a row.
 */
function repetitions(segments: readonly string[]): number {
  let highest = 1;
  for (let run = 1; run * 2 <= segments.length; run += 1) {
    let equal = 0;
    for (let i = run; i < segments.length; i += 1) {
      equal = segments[i] === segments[i - run] ? equal + 1 : 0;
      highest = Math.max(highest, 1 + Math.floor(equal / run));
    }
  }
  return highest;
}
