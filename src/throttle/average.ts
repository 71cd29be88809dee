/** Weight of the newest value: old enough to be calm, young enough to follow a load that changes within minutes. */
const WEIGHT = 0.2;

/** The moving average after one more value; null is the average of nothing. */
export function movingAverage(average: number | null, value: number): number {
  return average === null ? value : average + WEIGHT * (value - average);
}
