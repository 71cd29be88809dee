/** The log of a process: JSON lines for machines, plain lines on a terminal, and no secrets in either. */
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import type { AmbleConfig } from '../../config/index.ts';
import { escapeControls } from '../../core/format.ts';
import { currentLogFields } from '../../core/log-context.ts';
import { createRedactor, passwordsOf, secretsIn } from '../../core/redact.ts';
import { renderLogLine } from '../render/log-line.ts';
import { isReadByPeople } from '../terminal.ts';

/** `file`: a progress display has the terminal. */
export type LogDestination = 'stderr' | 'file';

const STDERR = 2;

export function logFile(home: string): string {
  return join(home, 'log', 'amble.log');
}

export function openLog(
  { home, logLevel, logFormat, serverToken, temporalAccess }: AmbleConfig,
  to: LogDestination,
  databaseUrl: string,
): Logger {
  // Synchronous: the last lines before an exit matter most.
  const destination = pino.destination({
    dest: to === 'file' ? logFile(home) : STDERR,
    mkdir: true,
    sync: true,
  });
  const isForPeople = to === 'stderr' && isReadByPeople(logFormat);
  const redact = createRedactor([
    ...secretsIn(process.env),
    ...passwordsOf(databaseUrl),
    serverToken ?? '',
    temporalAccess?.apiKey?.() ?? '',
  ]);
  const streamWrite = (line: string): string => {
    const json = redact(line.trimEnd());
    const lines = isForPeople ? renderLogLine(json).split('\n') : [json];
    // A log is read on a terminal, and contains URLs and error messages of sites.
    return lines.map((shown) => `${escapeControls(shown)}\n`).join('');
  };
  return pino(
    { level: logLevel, base: { pid: process.pid }, mixin: currentLogFields, hooks: { streamWrite } },
    destination,
  );
}
