/** Prints the results of a benchmark, one a line. A result that misses its target sets exit code 1. */

export type Target = { atLeast: number } | { atMost: number };

export function printResult(name: string, value: string): void {
  console.log(`${name.padEnd(22)} ${value}`);
}

/** `remark`: how the value was obtained. */
export function checkResult(
  name: string,
  value: number,
  target: Target,
  { digits = 2, remark }: { digits?: number; remark?: string } = {},
): void {
  const [met, text] =
    'atLeast' in target
      ? [value >= target.atLeast, `at least ${target.atLeast}`]
      : [value <= target.atMost, `at most ${target.atMost}`];
  const remarks = [...(remark === undefined ? [] : [remark]), `target: ${text}`, ...(met ? [] : ['MISSED'])];
  printResult(name, `${value.toFixed(digits)}  (${remarks.join('; ')})`);
  if (!met) process.exitCode = 1;
}

/** The median, because a machine that is busy for a moment distorts a mean. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** A remark that lists all the values behind a median. */
export function medianOf(values: readonly number[]): string {
  return `median of ${values.map((value) => value.toFixed(2)).join(', ')}`;
}
