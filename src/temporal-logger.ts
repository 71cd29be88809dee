/** Temporal's log lines, through our logger. */
import type { Logger as TemporalLogger } from '@temporalio/common';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import type { Logger } from 'pino';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/** The SDK's "info" tells of its own comings and goings: for people who debug. */
export function temporalLogger(log: Logger): TemporalLogger {
  return new DefaultLogger('INFO', ({ level, message, meta }: LogEntry) => {
    log[LEVELS[level]]({ ...meta }, message);
  });
}
