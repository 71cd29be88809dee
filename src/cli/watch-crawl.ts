/** Shows the progress of a crawl until it ends or the user leaves. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { Database } from '../storage/database.ts';
import { isDatabaseUnavailable } from '../storage/database-unavailable.ts';
import { type Progress, readProgress } from '../storage/reports/progress.ts';
import type { RunningWorker } from '../worker/worker.ts';
import { waitForEnd } from './connect/crawls.ts';
import { retryWhileUnavailable } from './connect/retry-while-unavailable.ts';
import { aborted } from './interrupts.ts';
import { createDisplay } from './render/progress-display.ts';

const POLL_INTERVAL_MS = 1_000;

/** Counting the pages of a huge crawl takes a while: watching may use at most a tenth of the database's time. */
const REST_PER_READ = 10;

export interface WatchOptions {
  db: Database;
  crawlId: string;
  handle: WorkflowHandle;
  /** The worker of this process. */
  worker: RunningWorker | null;
  /** Aborted: the user leaves. */
  leave: AbortSignal;
}

/** The last progress read; null: the crawl was never opened. Rejects if the crawl or the worker failed. */
export async function watchCrawl({
  db,
  crawlId,
  handle,
  worker,
  leave,
}: WatchOptions): Promise<Progress | null> {
  const display = createDisplay(process.stderr, process.env);
  const stop = new AbortController();
  const ended = waitForEnd(handle, worker, { log: display.log, signal: leave });
  const over = Promise.race([ended, aborted(leave)]).finally(() => stop.abort());
  // A failure during a database read must not count as unhandled; the loop below throws it.
  over.catch(() => undefined);
  let progress: Progress | null = null;
  let tookMs = 0;
  const read = async (): Promise<Progress | null> => {
    const began = performance.now();
    const now = await readProgress(db, crawlId);
    tookMs = performance.now() - began;
    return now;
  };
  const update = async (signal: AbortSignal): Promise<void> => {
    try {
      progress = await retryWhileUnavailable(read, {
        what: 'Postgres',
        isUnavailable: isDatabaseUnavailable,
        log: display.log,
        signal,
      });
    } catch (error) {
      if (!signal.aborted) throw error;
    }
  };
  try {
    while (!stop.signal.aborted) {
      await update(stop.signal);
      if (progress) display.show(progress);
      const rest = sleep(Math.max(POLL_INTERVAL_MS - tookMs, REST_PER_READ * tookMs), undefined, {
        signal: stop.signal,
      });
      await Promise.race([over, rest.catch(() => undefined)]);
    }
    await over;
    await update(leave);
    return progress;
  } finally {
    display.close();
  }
}
