/** How a command ends: its exit code, and the one sentence that says why. */
import { CancelledFailure, WorkflowFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { BadInput } from '../config/index.ts';

export const EXIT = {
  ok: 0,
  failed: 1,
  badInput: 2,
  /** 128 + SIGINT, as shells have it: the crawl goes on, this command did not see its end. */
  interrupted: 130,
} as const;

export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

/** A failed Crawl workflow whose input was refused is bad input, wherever the refusal came from. */
export function asBadInput(error: unknown): BadInput | null {
  if (error instanceof BadInput) return error;
  const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.type === 'BadInput'
    ? new BadInput(cause.message)
    : null;
}

export function wasCancelled(error: unknown): boolean {
  return error instanceof WorkflowFailedError && error.cause instanceof CancelledFailure;
}

/** One line, whatever the library that threw it likes: Prisma's reason is its last line, most others' their first. */
export function sentenceOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const inner = error instanceof WorkflowFailedError && error.cause ? error.cause : error;
  const lines = inner.message
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
  const line = inner.name.startsWith('PrismaClient') ? lines.at(-1) : lines[0];
  return line ?? inner.name;
}
