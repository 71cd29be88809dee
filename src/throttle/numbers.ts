/** Weight of the newest value: small enough to smooth, large enough to follow a load that changes within minutes. */
const WEIGHT = 0.2;

/** The moving average after one more value. `average` is null before the first value. */
export function movingAverage(average: number | null, value: number): number {
  return average === null ? value : average + WEIGHT * (value - average);
}

/** A pause ends up to this fraction later, so that not all crawlers return to a site at the same second. */
const JITTER = 0.1;

/** End of a pause of this length that begins now. */
export function jitteredEnd(now: number, durationMs: number, random: () => number): number {
  return Math.ceil(now + durationMs * (1 + JITTER * random()));
}
