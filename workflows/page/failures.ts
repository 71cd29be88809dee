/** Attempts that failed, and not by what a site answered: what is written down of them. */
import type { AttemptReport, ParsedRef } from '../../src/core/attempt.ts';
import { failureOf } from '../run-step.ts';

/** `poisoned`: parsing failed to the last retry; fetching the page again would not help. */
export type Parsed = { report: AttemptReport; parsed: ParsedRef | null; poisoned: boolean };

/** How parse and persist say that the page itself is at fault. */
export type Verdict = 'Unparsable' | 'Unrecordable';

export const FAILED_TO_RECORD = {
  outcome: 'Failed',
  errorKind: 'record',
  found: { kind: 'nothing' },
} as const;

/** An attempt that failed without a request of its own on record. */
export function unsent(errorKind: string, error: string, finishedAt: number): AttemptReport {
  return {
    outcome: 'Failed',
    statusCode: null,
    errorKind,
    error,
    request: null,
    finishedAt,
    latencyMs: null,
    bytes: null,
    found: { kind: 'nothing' },
  };
}

export function unparsable(report: AttemptReport, error: string): Parsed {
  return {
    report: { ...report, outcome: 'Failed', errorKind: 'parse', error },
    parsed: null,
    poisoned: true,
  };
}

/** Why, where that is the verdict; null: something else went wrong. */
export function lastWord(error: unknown, verdict: Verdict): string | null {
  const failure = failureOf(error);
  return failure?.type === verdict ? failure.message : null;
}
