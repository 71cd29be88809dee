/** All crawls as an operator sees them, for the page and for the API. */
import { hasWorker } from '../operator/has-worker.ts';
import { readPauseOrder } from '../storage/orders.ts';
import { type CrawlOverview, readCrawlOverview, readOverview } from '../storage/reports/overview.ts';
import { readStop } from '../storage/stop.ts';
import { nextCrawls, parseCrawlsCursor } from './crawls-cursor.ts';
import { askTemporal, type Services } from './services.ts';
import { secondsLeft, whatHoldsBack } from './what-holds-back.ts';

export interface NowCrawl extends CrawlOverview {
  secondsLeft: number | null;
  /** One sentence. null: it has ended. */
  heldBackBy: string | null;
}

export interface CrawlList {
  crawls: NowCrawl[];
  /** For the next part of the list. null: this is the last. */
  next: string | null;
}

/** `after`: `next` of the part before. Throws BadInput if it is not. */
export async function loadOverview(
  services: Services,
  limit: number,
  after: string | null = null,
): Promise<CrawlList> {
  const crawls = await readOverview(services.db, limit, after === null ? null : parseCrawlsCursor(after));
  return { crawls: await withReasons(services, crawls), next: nextCrawls(crawls, limit) };
}

/** null: there is no such crawl. */
export async function loadCrawlOverview(services: Services, crawlId: string): Promise<NowCrawl | null> {
  const crawl = await readCrawlOverview(services.db, crawlId);
  return (await withReasons(services, crawl === null ? [] : [crawl]))[0] ?? null;
}

async function withReasons(services: Services, crawls: readonly CrawlOverview[]): Promise<NowCrawl[]> {
  const isOpen = crawls.some(({ finishedAt }) => finishedAt === null);
  const found = isOpen ? await askTemporal(services, (client) => hasWorker(client, services.config)) : null;
  const stop = isOpen ? await readStop(services.db) : null;
  const workers = found === null ? 'unknown' : found ? 'running' : 'none';
  return Promise.all(
    crawls.map(async (crawl) => {
      const pausedBy =
        crawl.status === 'Paused' ? await readPauseOrder(services.db, { crawlId: crawl.id }) : null;
      return {
        ...crawl,
        secondsLeft: stop === null ? secondsLeft(crawl) : null,
        heldBackBy: whatHoldsBack(crawl, workers, { pausedBy, stop }),
      };
    }),
  );
}
