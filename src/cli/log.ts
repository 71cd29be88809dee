/** Where the worker's log goes: to standard error, or out of the way of a progress display. */
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import type { AmbleConfig } from '../config/index.ts';

export type LogTo = 'stderr' | 'file';

export function logFile(home: string): string {
  return join(home, 'log', 'amble.log');
}

export function openLog({ home, logLevel }: AmbleConfig, to: LogTo): Logger {
  const STDERR = 2;
  // Synchronous: the last lines before an exit are the ones that get read.
  const destination = pino.destination({
    dest: to === 'file' ? logFile(home) : STDERR,
    mkdir: true,
    sync: true,
  });
  return pino({ level: logLevel, base: { pid: process.pid } }, destination);
}
