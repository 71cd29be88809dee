/** Presets with shorter intervals, so that tests can wait for them. */
import { loadConfig } from '../../src/config/index.ts';
import type { PresetName } from '../../src/config/presets.ts';
import type { CrawlSettings } from '../../src/core/settings.ts';
import type { Amble } from '../support/amble.ts';

/** A delay of 10 s becomes 200 ms. */
const DELAY_FACTOR = 50;

/** A retry interval of an hour becomes half a second. */
const RETRY_FACTOR = 7_200;

export interface ShortPreset {
  /** To be spread into a crawl's input. */
  input: Record<string, unknown>;
  /** The settings that this input leads to. */
  settings: Pick<CrawlSettings, 'delay' | 'retry'>;
}

export function shortened(preset: PresetName): ShortPreset {
  const { delay, retry } = loadConfig({ env: {}, cwd: '/', flags: { preset } }).crawl;
  const short = {
    delay: { minMs: delay.minMs / DELAY_FACTOR, maxMs: delay.maxMs / DELAY_FACTOR },
    retry: {
      ...retry,
      initialIntervalMs: Math.round(retry.initialIntervalMs / RETRY_FACTOR),
      jitterMs: Math.round(retry.jitterMs / RETRY_FACTOR),
    },
  };
  return {
    settings: short,
    input: {
      preset,
      delay: `${short.delay.minMs}ms-${short.delay.maxMs}ms`,
      retry: { initialInterval: short.retry.initialIntervalMs, jitter: short.retry.jitterMs },
    },
  };
}

/** Short backoff, too: the throttle's own tests check the gap it makes. */
export const SHORT_TUNING = {
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
