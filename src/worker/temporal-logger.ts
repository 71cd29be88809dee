/** Temporal's log lines, through our logger. */
import { SdkComponent, type Logger as TemporalLogger } from '@temporalio/common';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { DependencyHealth } from './dependency-health.ts';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/** Said at every start of the worker that only fetches: as it should be. */
const AS_IT_SHOULD_BE = 'No workflows registered';

/**
 * What the SDK's core says of each call that a server did not answer, of each task that was another's by the time it was
 * done, and of one that waited for the database: hundreds of lines an outage, which has a line of its own (outages.ts).
 */
const EACH_CALL =
  /^(gRPC call \S+ retried|Network error while|Error while polling|(Task|Activity) not found|Tried to complete untracked|Failed to paginate|\[TMPRL1104\])/;

/** Its errors are words. */
const NO_ANSWER =
  /transport error|connect error|h2 protocol error|error reading a body|Timeout expired|broken pipe|connection reset|Unavailable|DeadlineExceeded/i;

/** Of each ask to a throttle whose last task failed or was lost: who failed it says so himself, and the ask is repeated. */
const EACH_ASK = /Workflow Task in failed state/;

/** The SDK's "info" tells of its own comings and goings: for people who debug. */
export function createTemporalLogger(
  log: Logger,
  outages: Pick<DependencyHealth, 'reportIfUnavailable'>,
): TemporalLogger {
  return new DefaultLogger('INFO', ({ level, message, meta }: LogEntry) => {
    // Under `err` pino writes out what an error holds; under any other name only {}.
    const { error, ...rest } = meta ?? {};
    const isKnown =
      message.startsWith(AS_IT_SHOULD_BE) ||
      (rest.sdkComponent === SdkComponent.core && isOfACall(`${message} ${String(error)}`)) ||
      (error !== undefined && (EACH_ASK.test(String(error)) || outages.reportIfUnavailable(error)));
    const to = isKnown ? 'debug' : LEVELS[level];
    log[to](error === undefined ? rest : { ...rest, err: error }, message);
  });
}

function isOfACall(words: string): boolean {
  return EACH_CALL.test(words) || NO_ANSWER.test(words);
}
