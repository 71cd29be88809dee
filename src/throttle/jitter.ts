/** A block ends up to this part later than it would, so that not every crawler in the world is back on the second. */
const JITTER = 0.1;

/** The end of a block of this length that begins now. */
export function endOfBlock(now: number, spanMs: number, random: () => number): number {
  return Math.ceil(now + spanMs * (1 + JITTER * random()));
}
