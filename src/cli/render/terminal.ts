/** The two ways out: results on standard output, everything said about them on standard error. */

export function print(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
