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
  const cause = error instanceof ActivityFailure ? error.cause : undefined;
  return cause instanceof ApplicationFailure && cause.nonRetryable === true;
}
