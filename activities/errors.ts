/** What a step may throw: an outage is waited out without limit, a bug is tried a few times, and then the page decides. */
import { Context } from '@temporalio/activity';
import { ApplicationFailure } from '@temporalio/common';
import { messageOf } from '../src/core/error-chain.ts';
import type { Deps } from './deps.ts';

/** Some seconds of tries: what is a matter of the moment, and not known for it, is over by then. */
const MOST_TRIES = 5;

export interface Poison {
  /** By which the page's workflow knows it. */
  verdict: 'Unparsable' | 'Unrecordable';
  /** The beginning of the page's reason. */
  sentence: string;
  log: { message: string } & Record<string, unknown>;
}

export function orPoison(deps: Deps, error: unknown, poison: Poison): unknown {
  const decided = error instanceof ApplicationFailure && error.nonRetryable === true;
  if (decided || mayPass(deps, error)) return error;
  const { message, ...what } = poison.log;
  deps.log.error({ ...what, err: error }, message);
  return ApplicationFailure.nonRetryable(`${poison.sentence}: ${messageOf(error)}`, poison.verdict);
}

/** Whether the next try may end otherwise. */
export function mayPass({ dependencies: outages }: Deps, error: unknown): boolean {
  const { info, cancellationSignal } = Context.current();
  return cancellationSignal.aborted || outages.reportIfUnavailable(error) || info.attempt < MOST_TRIES;
}
