/** Database steps: quick and cheap while the database answers, patient when it does not. */
import { isCancellation } from '@temporalio/workflow';

/**
 * Runs the local activity, and the regular one where that could not be done in its few seconds. Both may have run: the
 * steps this is used for are idempotent.
 */
export async function durably<T>(quickly: () => Promise<T>, patiently: () => Promise<T>): Promise<T> {
  try {
    return await quickly();
  } catch (error) {
    if (isCancellation(error)) throw error;
    return patiently();
  }
}
