/** A preset as a crawl that a test can wait for: the same policy, its clocks turned faster. */
import { loadConfig } from '../../src/config/index.ts';
import type { PresetName } from '../../src/config/presets.ts';
import type { CrawlSettings } from '../../src/core/settings.ts';
import type { Amble } from '../support/amble.ts';

/** Gaps between requests: 10 s become 200 ms. */
const PACE = 50;

/** Waits for another attempt: an hour becomes half a second. */
const PATIENCE = 7_200;

export interface Quickened {
  /** To be spread into a crawl's input. */
  input: Record<string, unknown>;
  /** What it then holds to. */
  settings: Pick<CrawlSettings, 'delay' | 'retry'>;
}

export function quickened(preset: PresetName): Quickened {
  const { delay, retry } = loadConfig({ env: {}, cwd: '/', flags: { preset } }).crawl;
  const quick = {
    delay: { minMs: delay.minMs / PACE, maxMs: delay.maxMs / PACE },
    retry: {
      ...retry,
      initialIntervalMs: Math.round(retry.initialIntervalMs / PATIENCE),
      jitterMs: Math.round(retry.jitterMs / PATIENCE),
    },
  };
  return {
    settings: quick,
    input: {
      preset,
      delay: `${quick.delay.minMs}ms-${quick.delay.maxMs}ms`,
      retry: { initialInterval: quick.retry.initialIntervalMs, jitter: quick.retry.jitterMs },
    },
  };
}

/** Backoff as quick as the rest; the gap it makes is for the throttle's own tests. */
export const QUICK_TUNING = {
  throttle: { maxBackoffMs: 100 },
  crawl: { sweepIntervalMs: 200, longWaitMs: 50 },
};

/** A page with its attempts, by its URL. */
export function pageOf({ db }: Amble, crawlId: string, url: string) {
  return db.page.findFirstOrThrow({
    where: { crawlId, url },
    include: { attempted: { orderBy: { attempt: 'asc' } } },
  });
}

export interface Gap {
  ms: number;
  /** What it had to be at least. */
  minGapMs: number;
}

/** Between the starts of all requests to a domain, robots.txt included. */
export async function gapsOf({ db }: Amble, domain: string): Promise<Gap[]> {
  const requests = await db.request.findMany({ where: { domain }, orderBy: { startedAt: 'asc' } });
  return requests.slice(1).map(({ startedAt, minGapMs }, i) => ({
    ms: startedAt.getTime() - (requests[i]?.startedAt.getTime() ?? 0),
    minGapMs,
  }));
}

/** How long each attempt waited for the next one, as it was recorded. */
export function waitsOf({
  attempted,
}: {
  attempted: { finishedAt: Date; nextAttemptAt: Date | null }[];
}): number[] {
  return attempted.flatMap(({ finishedAt, nextAttemptAt }) =>
    nextAttemptAt === null ? [] : [nextAttemptAt.getTime() - finishedAt.getTime()],
  );
}
