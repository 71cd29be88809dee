/** How a benchmark says what it found: a line a figure, and exit code 1 where one misses what is wanted of it. */

export type Target = { atLeast: number } | { atMost: number };

export function printResult(name: string, value: string): void {
  console.log(`${name.padEnd(22)} ${value}`);
}

/** `remark`: where the figure comes from. */
export function checkResult(
  name: string,
  value: number,
  wanted: Target,
  { digits = 2, remark }: { digits?: number; remark?: string } = {},
): void {
  const [met, words] =
    'atLeast' in wanted
      ? [value >= wanted.atLeast, `at least ${wanted.atLeast}`]
      : [value <= wanted.atMost, `at most ${wanted.atMost}`];
  const said = [...(remark === undefined ? [] : [remark]), `wanted: ${words}`, ...(met ? [] : ['MISSED'])];
  printResult(name, `${value.toFixed(digits)}  (${said.join('; ')})`);
  if (!met) process.exitCode = 1;
}

/** Not the mean: a machine that is busy elsewhere for a moment must not decide. */
export function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

/** All of them, as a remark on their median. */
export function medianOf(values: readonly number[]): string {
  return `median of ${values.map((value) => value.toFixed(2)).join(', ')}`;
}
