/**
 * What a step throws. An unavailable dependency is retried without limit; anything else a few times, and then it is a fault
 * of the page, which the page's workflow handles.
 */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import type { PageFault } from '../src/core/activities.ts';
import { messageOf } from '../src/core/errors.ts';
import type { Deps } from './deps.ts';

/** Some seconds of tries, which is longer than a transient error lasts that we do not recognise as one. */
const MAX_TRIES = 5;

export interface FaultDescription {
  stage: PageFault;
  /** The beginning of the page's reason. */
  sentence: string;
  log: { message: string } & Record<string, unknown>;
}

export function toPageFault(deps: Deps, error: unknown, { stage, sentence, log }: FaultDescription): unknown {
  const isDecided = error instanceof ApplicationFailure && error.nonRetryable === true;
  if (isDecided || isTransient(deps, error)) return error;
  const { message, ...fields } = log;
  deps.log.error({ ...fields, err: error }, message);
  return ApplicationFailure.nonRetryable(`${sentence}: ${messageOf(error)}`, stage);
}

/** Whether the next try may succeed. */
export function isTransient({ dependencies }: Deps, error: unknown): boolean {
  const { info, cancellationSignal } = Context.current();
  return cancellationSignal.aborted || dependencies.reportIfUnavailable(error) || info.attempt < MAX_TRIES;
}
