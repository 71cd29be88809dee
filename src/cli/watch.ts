/** Watches a crawl until it ends, or until somebody has seen enough. */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Database } from '../storage/database.ts';
import { type Progress, readProgress } from '../storage/progress.ts';
import { aborted } from './interrupts.ts';
import { createDisplay } from './progress/display.ts';

const LOOK_EVERY_MS = 1_000;

/** Counting a huge crawl takes a while: watching may cost the database a tenth of its time, no more. */
const REST_PER_LOOK = 10;

export interface Watch {
  db: Database;
  crawlId: string;
  /** Settles when the crawl's workflow has ended. */
  ended: Promise<unknown>;
  /** Seen enough. */
  leave: AbortSignal;
}

/** Where the crawl stood at the last look; null: it was never opened. Rejects if `ended` does. */
export async function watchCrawl({ db, crawlId, ended, leave }: Watch): Promise<Progress | null> {
  const display = createDisplay(process.stderr, process.env);
  const stop = new AbortController();
  const over = Promise.race([ended, aborted(leave)]).finally(() => stop.abort());
  // It may fail while the database is being read; the loop hears of it after that.
  over.catch(() => undefined);
  try {
    while (!stop.signal.aborted) {
      const began = performance.now();
      const progress = await readProgress(db, crawlId);
      const tookMs = performance.now() - began;
      if (progress) display.show(progress);
      const rest = sleep(Math.max(LOOK_EVERY_MS - tookMs, REST_PER_LOOK * tookMs), undefined, {
        signal: stop.signal,
      });
      await Promise.race([over, rest.catch(() => undefined)]);
    }
    await over;
    return await readProgress(db, crawlId);
  } finally {
    display.close();
  }
}
