/** The worker in this process: its log, and what happens when code of ours throws where nothing catches it. */
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import type { AmbleConfig } from '../../config/index.ts';
import { escapeControls } from '../../core/format.ts';
import type { Engines } from '../../embedded/index.ts';
import type { RunningWorker } from '../../worker/worker.ts';

/** `file`: a progress display has the terminal. */
export type LogDestination = 'stderr' | 'file';

export interface LocalWorkerOptions {
  logTo: LogDestination;
  /** Runs throttles but crawls nothing. */
  onlyThrottles: boolean;
}

const STDERR = 2;

export async function startLocalWorker(
  config: AmbleConfig,
  { temporal: { address, namespace }, databaseUrl, moved }: Engines,
  { logTo, onlyThrottles }: LocalWorkerOptions,
): Promise<RunningWorker> {
  const log = openLog(config, logTo);
  installCrashHandlers(log);
  // Loaded late, as the larger half of the program: bad input is reported without waiting for it.
  const { startWorker } = await import('../../worker/worker.ts');
  const temporal = { address, namespace };
  const worker = await startWorker({ config, temporal, databaseUrl, log, onlyThrottles });
  // The worker cannot follow engines that were restarted at another address.
  return { ...worker, failed: Promise.race([worker.failed, moved]) };
}

export function logFile(home: string): string {
  return join(home, 'log', 'amble.log');
}

function openLog({ home, logLevel }: AmbleConfig, to: LogDestination): Logger {
  // Synchronous: the last lines before an exit matter most.
  const destination = pino.destination({
    dest: to === 'file' ? logFile(home) : STDERR,
    mkdir: true,
    sync: true,
  });
  // A log is read on a terminal, and contains URLs and error messages of sites.
  const hooks = { streamWrite: (line: string) => `${escapeControls(line.trimEnd())}\n` };
  return pino({ level: logLevel, base: { pid: process.pid }, hooks }, destination);
}

/**
 * An uncaught error does not end the worker. Every step it runs is durable and has a timeout or a heartbeat, so Temporal
 * retries the page concerned, and the other pages are not affected.
 */
function installCrashHandlers(log: Logger): void {
  process.on('uncaughtException', (error) =>
    log.error({ err: error }, 'uncaught exception; the worker continues'),
  );
  process.on('unhandledRejection', (reason) =>
    log.error({ err: reason }, 'unhandled rejection; the worker continues'),
  );
}
