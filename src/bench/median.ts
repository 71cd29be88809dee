/** The middle one of an odd number of figures: a machine's speed changes from one minute to the next. */
export function median(figures: readonly number[]): number {
  return figures.toSorted((one, other) => one - other)[(figures.length - 1) / 2] ?? Number.NaN;
}
