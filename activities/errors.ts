/**
 * What a step throws. An unavailable dependency is retried without limit; anything else a few times, and then it is a fault
 * of the page, which the page's workflow handles.
 */
import { Context } from '@temporalio/activity';
import { WorkflowUpdateFailedError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { type PageFault, TURNED_AWAY } from '../src/core/activities.ts';
import { causesOf, messageOf } from '../src/core/errors.ts';
import { truncateText } from '../src/core/format.ts';
import { isRefusedByTemporal } from '../src/temporal/connection.ts';
import type { Deps } from './deps.ts';

/** Some seconds of tries, which is longer than a transient error lasts that we do not recognise as one. */
const MAX_TRIES = 5;

/** Of a message that is not ours. */
const MAX_REASON_LENGTH = 300;

export interface FaultDescription {
  stage: PageFault;
  /** The beginning of the page's reason. */
  sentence: string;
  log: { message: string } & Record<string, unknown>;
}

const COME_AGAIN_MS = 10_000;

/** This process has too much to do: the step is tried again, here or elsewhere, however often that takes. */
export function comeAgain(message: string): ApplicationFailure {
  const nonRetryable = Context.current().info.isLocal;
  const nextRetryDelay = COME_AGAIN_MS * (1 + Math.random());
  return ApplicationFailure.create({ message, type: TURNED_AWAY, nonRetryable, nextRetryDelay });
}

export function toPageFault(deps: Deps, error: unknown, { stage, sentence, log }: FaultDescription): unknown {
  const isDecided =
    error instanceof ApplicationFailure && (error.nonRetryable === true || error.type === TURNED_AWAY);
  if (isDecided || isTransient(deps, error)) return error;
  const { message, ...fields } = log;
  deps.log.error({ ...fields, err: error }, message);
  return ApplicationFailure.nonRetryable(`${sentence}: ${messageOf(error)}`, stage);
}

/** An ask that will always be refused ends its page: retried forever, it would keep the crawl from ending. */
export function toSlotFault(error: unknown, domain: string): unknown {
  if (!isRefusedByTemporal(error) && !isRefusedByThrottle(error)) return error;
  const reason = truncateText(messageOf(causesOf(error).at(-1)), MAX_REASON_LENGTH);
  const stage: PageFault = 'SlotFault';
  return ApplicationFailure.nonRetryable(`Slots for ${domain} are refused: ${reason}`, stage);
}

function isRefusedByThrottle(error: unknown): boolean {
  if (!(error instanceof WorkflowUpdateFailedError)) return false;
  return error.cause instanceof ApplicationFailure && error.cause.type === 'BadInput';
}

/** Whether the next try may succeed. */
export function isTransient({ dependencies }: Deps, error: unknown): boolean {
  const { info, cancellationSignal } = Context.current();
  return cancellationSignal.aborted || dependencies.reportIfUnavailable(error) || info.attempt < MAX_TRIES;
}
