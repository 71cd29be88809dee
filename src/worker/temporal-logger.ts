/** Passes the Temporal SDK's log on to ours. */
import { SdkComponent, type Logger as TemporalLogger } from '@temporalio/common';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { DependencyHealth } from './dependency-health.ts';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/** Expected: the worker of the step queue runs activities only. */
const EXPECTED = 'No workflows registered';

/**
 * The SDK's core warns of each call that failed, each task that another worker completed first, and each task that waited for
 * the database. An outage would log hundreds of these; dependency-health.ts logs it once.
 */
const FAILED_CALL =
  /^(gRPC call \S+ retried|Network error while|Error while polling|(Task|Activity) not found|Tried to complete untracked|Failed to paginate|\[TMPRL1104\])/;

/** The core's errors are strings. */
const UNANSWERED =
  /transport error|connect error|h2 protocol error|error reading a body|Timeout expired|broken pipe|connection reset|Unavailable|DeadlineExceeded/i;

/** An update to a throttle whose workflow task failed or was lost. The failure is logged elsewhere, and the update retried. */
const FAILED_UPDATE = /Workflow Task in failed state|unexpected workflow task failure/;

/** The SDK's info messages are about its own life cycle, so they are logged at debug level. */
export function createTemporalLogger(
  log: Logger,
  outages: Pick<DependencyHealth, 'reportIfUnavailable'>,
): TemporalLogger {
  return new DefaultLogger('INFO', ({ level, message, meta }: LogEntry) => {
    // pino serialises errors under the key `err` only.
    const { error, ...rest } = meta ?? {};
    const isExpected =
      message.startsWith(EXPECTED) ||
      (rest.sdkComponent === SdkComponent.core && isFailedCall(`${message} ${String(error)}`)) ||
      (error !== undefined && (FAILED_UPDATE.test(String(error)) || outages.reportIfUnavailable(error)));
    const to = isExpected ? 'debug' : LEVELS[level];
    log[to](error === undefined ? rest : { ...rest, err: error }, message);
  });
}

function isFailedCall(text: string): boolean {
  return FAILED_CALL.test(text) || UNANSWERED.test(text);
}
