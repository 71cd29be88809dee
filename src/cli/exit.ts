/** How a command ends: its exit code, and the one sentence that says why. */

export const EXIT = {
  ok: 0,
  failed: 1,
  badInput: 2,
  /** 128 + SIGINT, as shells have it: the crawl goes on, this command did not see its end. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** One line, whatever the library that threw it likes: Prisma's reason is its last line, most others' their first. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const lines = error.message
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = error.name.startsWith('PrismaClient') ? lines.at(-1) : lines[0];
  return line ?? error.name;
}
