/** The worker in this process, and what happens when code of ours throws where nothing catches it. */
import type { Logger } from 'pino';
import type { AmbleConfig } from '../../config/index.ts';
import type { Engines } from '../../embedded/index.ts';
import type { RunningWorker } from '../../worker/worker.ts';
import { type LogDestination, openLog } from './open-log.ts';

export interface LocalWorkerOptions {
  logTo: LogDestination;
  /** Runs throttles but crawls nothing. */
  onlyThrottles: boolean;
  /** Serves metrics and health, as a process does that stays. */
  endpoints?: boolean;
}

export async function startLocalWorker(
  config: AmbleConfig,
  { temporal, databaseUrl, moved }: Engines,
  { logTo, onlyThrottles, endpoints = false }: LocalWorkerOptions,
): Promise<RunningWorker> {
  const log = openLog(config, logTo);
  installCrashHandlers(log);
  // Loaded late, as the larger half of the program: bad input is reported without waiting for it.
  const { startWorker } = await import('../../worker/worker.ts');
  const { startHealthServer } = await import('../../worker/health-server.ts');
  let worker: RunningWorker | null = null;
  const health =
    endpoints && config.health.listen !== null
      ? await startHealthServer(config.health.listen, () => worker?.whyNotReady() ?? ['starting'])
      : null;
  worker = await startWorker({ config, temporal, databaseUrl, log, onlyThrottles, serveMetrics: endpoints });
  const { stop, failed } = worker;
  return {
    ...worker,
    // The worker cannot follow engines that were restarted at another address.
    failed: Promise.race([failed, moved]),
    stop: () => stop().finally(() => health?.close()),
  };
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
