/** Database steps: quick and cheap while the database answers, patient when it does not. */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';

/**
 * Runs the local activity, and the regular one where that could not be done in its few seconds. Both may have run: the
 * steps this is used for are idempotent.
 */
export async function durably<T>(quickly: () => Promise<T>, patiently: () => Promise<T>): Promise<T> {
  try {
    return await quickly();
  } catch (error) {
    if (isCancellation(error) || isLastWord(error)) throw error;
    return patiently();
  }
}

/** The step has decided, and would decide the same again. */
function isLastWord(error: unknown): boolean {
  return failureOf(error)?.nonRetryable === true;
}

/** What an activity itself threw; null: it failed in another way. A local activity's comes as it is, a regular one's wrapped. */
export function failureOf(error: unknown): ApplicationFailure | null {
  const thrown = error instanceof ActivityFailure ? error.cause : error;
  return thrown instanceof ApplicationFailure ? thrown : null;
}
