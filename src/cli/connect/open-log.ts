/** The log of a process: JSON lines for machines, plain lines on a terminal, and no secrets in either. */
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import type { AmbleConfig } from '../../config/index.ts';
import { escapeControls } from '../../core/format.ts';
import { currentLogFields } from '../../core/log-context.ts';
import { renderLogLine } from '../render/log-line.ts';
import { isReadByPeople, redactor } from '../terminal.ts';

/** `file`: a progress display has the terminal. */
export type LogDestination = 'stderr' | 'file';

const STDERR = 2;

export function logFile(home: string): string {
  return join(home, 'log', 'amble.log');
}

export function openLog(
  { home, logLevel, logFormat }: Pick<AmbleConfig, 'home' | 'logLevel' | 'logFormat'>,
  to: LogDestination,
): Logger {
  // Synchronous: the last lines before an exit matter most.
  const destination = pino.destination({
    dest: to === 'file' ? logFile(home) : STDERR,
    mkdir: true,
    sync: true,
  });
  const isForPeople = to === 'stderr' && isReadByPeople(logFormat);
  const streamWrite = (line: string): string => {
    const json = redactor.redact(line.trimEnd());
    const lines = isForPeople ? renderLogLine(json).split('\n') : [json];
    // A log is read on a terminal, and contains URLs and error messages of sites.
    return lines.map((shown) => `${escapeControls(shown)}\n`).join('');
  };
  return pino(
    { level: logLevel, base: { pid: process.pid }, mixin: currentLogFields, hooks: { streamWrite } },
    destination,
  );
}
