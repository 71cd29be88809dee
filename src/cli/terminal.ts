/** What a process gives back: results on standard output, messages on standard error, an exit code. */

export const EXIT = {
  ok: 0,
  failed: 1,
  badInput: 2,
  /** 128 + SIGINT, as shells do: this command stopped before the crawl ended. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function writeOut(line: string): void {
  process.stdout.write(`${line}\n`);
}

export function writeErr(line: string): void {
  process.stderr.write(`${line}\n`);
}

/** One line per error. Prisma puts the reason on its last line, most other libraries on the first. */
export function errorSentence(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const lines = error.message
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = error.name.startsWith('PrismaClient') ? lines.at(-1) : lines[0];
  return line ?? error.name;
}
