/** Watches a crawl until it ends, or until somebody has seen enough. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { WorkflowHandle } from '@temporalio/client';
import type { Database } from '../storage/database.ts';
import { isDatabaseAway } from '../storage/database-unavailable.ts';
import { type Progress, readProgress } from '../storage/reports/progress.ts';
import type { RunningWorker } from '../worker/worker.ts';
import { endOf } from './connect/crawls.ts';
import { patiently } from './connect/retry-while-unavailable.ts';
import { aborted } from './interrupts.ts';
import { createDisplay } from './render/progress-display.ts';

const LOOK_EVERY_MS = 1_000;

/** Counting a huge crawl takes a while: watching may cost the database a tenth of its time, no more. */
const REST_PER_LOOK = 10;

export interface Watch {
  db: Database;
  crawlId: string;
  handle: WorkflowHandle;
  /** The one of this process. */
  worker: RunningWorker | null;
  /** Seen enough. */
  leave: AbortSignal;
}

/** Where the crawl stood at the last look; null: it was never opened. Rejects if the crawl or the worker failed. */
export async function watchCrawl({ db, crawlId, handle, worker, leave }: Watch): Promise<Progress | null> {
  const display = createDisplay(process.stderr, process.env);
  const stop = new AbortController();
  const ended = endOf(handle, worker, { say: display.say, enough: leave });
  const over = Promise.race([ended, aborted(leave)]).finally(() => stop.abort());
  // It may fail while the database is being read; the loop hears of it after that.
  over.catch(() => undefined);
  let seen: Progress | null = null;
  let tookMs = 0;
  const read = async (): Promise<Progress | null> => {
    const began = performance.now();
    const progress = await readProgress(db, crawlId);
    tookMs = performance.now() - began;
    return progress;
  };
  const look = async (enough: AbortSignal): Promise<void> => {
    const patience = { what: 'Postgres', isAway: isDatabaseAway, say: display.say, enough };
    try {
      seen = await patiently(read, patience);
    } catch (error) {
      if (!enough.aborted) throw error;
    }
  };
  try {
    while (!stop.signal.aborted) {
      await look(stop.signal);
      if (seen) display.show(seen);
      const rest = sleep(Math.max(LOOK_EVERY_MS - tookMs, REST_PER_LOOK * tookMs), undefined, {
        signal: stop.signal,
      });
      await Promise.race([over, rest.catch(() => undefined)]);
    }
    await over;
    await look(leave);
    return seen;
  } finally {
    display.close();
  }
}
