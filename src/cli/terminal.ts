/**
 * What a process gives back: results on standard output, messages on standard error, an exit code. All text goes out here, one
 * line at a time, and control characters are escaped: titles, URLs and reasons are written by the sites that are crawled.
 */
import { once } from 'node:events';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { AmbleConfig } from '../config/index.ts';
import { codeOf } from '../core/errors.ts';
import { escapeControls } from '../core/format.ts';
import { ProcessRedactor, secretsIn } from '../core/redact.ts';

export const EXIT = {
  ok: 0,
  failed: 1,
  badInput: 2,
  /** 128 + SIGINT, as shells do: this command stopped before the crawl ended. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export function writeOut(line: string): void {
  process.stdout.write(`${escapeControls(line)}\n`);
}

/** Any number of lines, as fast as the reader takes them. */
export async function writeOutAll(lines: AsyncIterable<string>): Promise<void> {
  const written = async function* () {
    for await (const line of lines) yield `${escapeControls(line)}\n`;
  };
  try {
    await pipeline(Readable.from(written()), process.stdout, { end: false });
  } catch (error) {
    // The reader closed the pipe, as in `amble export ... | head`.
    if (codeOf(error) !== 'EPIPE') throw error;
  }
}

/** For all messages and log lines of this process: errors of libraries may quote what they were given. */
export const redactor = new ProcessRedactor();
redactor.add(secretsIn(process.env));

/** Of a log on standard error. */
export function isReadByPeople(logFormat: AmbleConfig['logFormat']): boolean {
  return logFormat === 'auto' ? process.stderr.isTTY === true : logFormat === 'text';
}

/** As in the log, which is written by pino. */
const LEVELS = { info: 30, warn: 40, error: 50 } as const;

let inLog = false;

/** From now on messages are lines of the log, which a program reads. */
export function writeMessagesAsLog(): void {
  if (inLog) return;
  inLog = true;
  // Node's own listener writes them as text, such as that of pg about sslmode=require.
  process.removeAllListeners('warning').on('warning', ({ message }) => writeErr(message, 'warn'));
}

export function writeErr(line: string, level: keyof typeof LEVELS = 'info'): void {
  const message = redactor.redact(line);
  const { pid } = process;
  const written = inLog
    ? JSON.stringify({ level: LEVELS[level], time: Date.now(), pid, msg: message })
    : message;
  process.stderr.write(`${escapeControls(written)}\n`);
}

/** Whether a person can read what is written and answer it. */
export function isAtTerminal(): boolean {
  return process.stdin.isTTY === true && process.stderr.isTTY === true;
}

/** Resolves at the next key, Ctrl-C included. Never, if there is no terminal. */
export async function keyPress(): Promise<void> {
  const { stdin } = process;
  if (!stdin.isTTY) return new Promise(() => {});
  stdin.setRawMode(true);
  try {
    await once(stdin, 'data');
  } finally {
    stdin.setRawMode(false);
    stdin.pause();
  }
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
