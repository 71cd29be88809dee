/**
 * A worker does not die of a bug that escaped: every step it runs is durable and has an end of its own (a heartbeat, a
 * time-out), so the page concerned is tried again, and the others need not know. What happened is logged in full.
 */
import type { Logger } from 'pino';

export function surviveBugs(log: Logger): void {
  process.on('uncaughtException', (error) =>
    log.error({ err: error }, 'an error escaped; the worker goes on'),
  );
  process.on('unhandledRejection', (reason) =>
    log.error({ err: reason }, 'a rejection that nobody handled; the worker goes on'),
  );
}
