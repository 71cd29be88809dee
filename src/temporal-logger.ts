/** Temporal's log lines, through our logger. */
import type { Logger as TemporalLogger } from '@temporalio/common';
import { DefaultLogger, type LogEntry } from '@temporalio/worker';
import type { Logger } from 'pino';
import type { Outages } from './outages.ts';

const LEVELS = { TRACE: 'trace', DEBUG: 'debug', INFO: 'debug', WARN: 'warn', ERROR: 'error' } as const;

/** Said of the worker that only fetches, at every start: as it should be. */
const NO_NEWS = 'No workflows registered';

/** The SDK's "info" tells of its own comings and goings: for people who debug. */
export function temporalLogger(log: Logger, outages: Pick<Outages, 'explain'>): TemporalLogger {
  return new DefaultLogger('INFO', ({ level, message, meta }: LogEntry) => {
    // Under `err` pino writes out what an error holds; under any other name only {}.
    const { error, ...rest } = meta ?? {};
    const isKnown = message.startsWith(NO_NEWS) || (error !== undefined && outages.explain(error));
    const to = isKnown ? 'debug' : LEVELS[level];
    log[to](error === undefined ? rest : { ...rest, err: error }, message);
  });
}
