/** How workflows run a step: quick and cheap while the database answers, patient when it does not. */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import { isCancellation } from '@temporalio/workflow';
import { type Activities, TURNED_AWAY } from '../src/core/activities.ts';
import { truncateSummary } from '../src/core/format.ts';
import { localSteps, onStepQueue, regularSteps } from './proxies.ts';

type StepName = keyof Activities;
type StepInput<S extends StepName> = Parameters<Activities[S]>;

/**
 * Runs the step as a local activity, and as a regular one if the local one did not finish within its few seconds. Both may
 * have run: steps are idempotent.
 */
export async function runStep<S extends StepName>(
  name: S,
  summary: string,
  ...input: StepInput<S>
): Promise<Awaited<ReturnType<Activities[S]>>> {
  try {
    return await localSteps[name].executeWithOptions({ summary: truncateSummary(summary) }, input);
  } catch (error) {
    if (isCancellation(error) || isNonRetryable(error)) throw error;
    return await runRegularStep(name, summary, ...input);
  }
}

/** For a step that takes longer than a workflow task should. */
export async function runRegularStep<S extends StepName>(
  name: S,
  summary: string,
  ...input: StepInput<S>
): Promise<Awaited<ReturnType<Activities[S]>>> {
  return await regularSteps[name].executeWithOptions(onStepQueue(truncateSummary(summary)), input);
}

/** The step has decided, and would decide the same again. */
function isNonRetryable(error: unknown): boolean {
  const failure = failureOf(error);
  return failure?.nonRetryable === true && failure.type !== TURNED_AWAY;
}

/** What the activity itself threw; null: it failed in another way. Only a regular activity's failure is wrapped. */
export function failureOf(error: unknown): ApplicationFailure | null {
  const thrown = error instanceof ActivityFailure ? error.cause : error;
  return thrown instanceof ApplicationFailure ? thrown : null;
}
