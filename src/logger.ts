/** The log: JSON lines on standard error, because standard output is for results. */
import { type Logger, pino } from 'pino';
import type { LogLevel } from './config/index.ts';

export function makeLogger(level: LogLevel): Logger {
  return pino({ level, base: { pid: process.pid } }, pino.destination({ dest: 2, sync: true }));
}
