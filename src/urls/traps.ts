/** Addresses that look as if a script made them up without end. Each is judged by itself; shape.ts has what needs counting. */
import type { TrapLimits } from '../core/settings.ts';

export type TrapReason = 'path too deep' | 'repeated segments';

/** `url` is a normalised URL; null: nothing suspicious about it. */
export function detectTrap(url: string, limits: TrapLimits): TrapReason | null {
  const segments = segmentsOf(url);
  if (limits.maxPathDepth !== null && segments.length > limits.maxPathDepth) return 'path too deep';
  if (limits.maxRepeats !== null && repeats(segments) > limits.maxRepeats) return 'repeated segments';
  return null;
}

/** Those between slashes that hold something. */
export function segmentsOf(url: string): string[] {
  return new URL(url).pathname.split('/').filter((segment) => segment !== '');
}

/**
 * How often one run of segments stands in a row with itself: 3 for /a/b/a/b/a/b. A broken relative link makes one more
 * each time it is followed; honest paths repeat a name once or twice, and then seldom in a row.
 */
function repeats(segments: readonly string[]): number {
  let most = 1;
  for (let run = 1; run * 2 <= segments.length; run += 1) {
    let equal = 0;
    for (let i = run; i < segments.length; i += 1) {
      equal = segments[i] === segments[i - run] ? equal + 1 : 0;
      most = Math.max(most, 1 + Math.floor(equal / run));
    }
  }
  return most;
}
