/** Reports at intervals, in a row of this process, that it runs and what it does: people see which workers there are. */
import { hostname } from 'node:os';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../storage/database.ts';
import { forgetWorker, reportWorker } from '../storage/workers.ts';
import type { DependencyHealth } from './dependency-health.ts';
import type { FetchSlots } from './fetch-slots.ts';

const INTERVAL_MS = 10_000;

/** A worker that stops does not wait longer for an unavailable database. */
const MAX_GOODBYE_MS = 1_000;

export interface Presence {
  stop(): Promise<void>;
}

export function announceWorker(
  db: Database,
  reported: {
    fetchSlots: Pick<FetchSlots, 'open' | 'waiting'>;
    dependencies: Pick<DependencyHealth, 'states'>;
  },
): Presence {
  // Temporal's own name for a worker, so that both can be compared.
  const identity = `${process.pid}@${hostname()}`;
  const startedAt = new Date();
  const delay = monitorEventLoopDelay();
  delay.enable();
  const report = async (): Promise<void> => {
    const eventLoopLagMs = Math.round(delay.max / 1e6);
    delay.reset();
    const unavailable = reported.dependencies.states().flatMap((one) => (one.unavailable ? [one.name] : []));
    const { open: openFetches, waiting: waitingFetches } = reported.fetchSlots;
    // If Postgres is unavailable, that is noticed and logged elsewhere.
    await reportWorker(db, {
      identity,
      startedAt,
      openFetches,
      waitingFetches,
      eventLoopLagMs,
      unavailable,
    }).catch(() => {});
  };
  let reporting = report();
  const timer = setInterval(() => {
    reporting = report();
  }, INTERVAL_MS);
  timer.unref();
  return {
    async stop() {
      clearInterval(timer);
      delay.disable();
      const forgotten = reporting.then(() => forgetWorker(db, identity)).catch(() => {});
      // Without Postgres the row stays, and counts as gone after a minute.
      await Promise.race([forgotten, sleep(MAX_GOODBYE_MS, undefined, { ref: false })]);
    },
  };
}
