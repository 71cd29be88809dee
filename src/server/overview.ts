/** All crawls as an operator sees them, for the page and for the API. */
import { workStatusOf } from '../operator/work-status.ts';
import { project, recentSince, timeLeftMs } from '../reports/projection.ts';
import { politeEnd } from '../reports/remaining-time.ts';
import { readPauseOrder } from '../storage/orders.ts';
import { readSampleAt } from '../storage/reports/counts.ts';
import { type CrawlOverview, readCrawlOverview, readOverview } from '../storage/reports/overview.ts';
import { readStop } from '../storage/stop.ts';
import { nextCrawls, parseCrawlsCursor } from './crawls-cursor.ts';
import { askTemporal, type Services } from './services.ts';
import { type OpenDomains, summariseOpenDomains, whatHoldsBack } from './what-holds-back.ts';

export interface NowCrawl extends Omit<CrawlOverview, 'remaining'> {
  /** What its open pages wait for. null: the crawl has ended. */
  waiting: OpenDomains | null;
  /** null: it does not run, or is not known. */
  secondsLeft: number | null;
  /** The frontier grows faster than it is worked off. */
  isGrowing: boolean;
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
  const { db, config } = services;
  const open = crawls.filter(({ finishedAt }) => finishedAt === null).map(({ id }) => id);
  const [work, stop] = await Promise.all([
    open.length > 0 ? askTemporal(services, (client) => workStatusOf(client, config, open)) : null,
    open.length > 0 ? readStop(db) : null,
  ]);
  const now = new Date();
  return Promise.all(
    crawls.map(async ({ remaining, ...crawl }) => {
      const { id, status } = crawl;
      const end = remaining && politeEnd(remaining, now);
      const waiting = end && summariseOpenDomains(end.domains);
      const isWorkedOn = status === 'Running' && stop === null && crawl.open > 0;
      const [pausedBy, outlook] = await Promise.all([
        status === 'Paused' ? readPauseOrder(db, { crawlId: id }) : null,
        isWorkedOn ? readOutlook(db, crawl, end?.remainingMs ?? 0, now) : NO_OUTLOOK,
      ]);
      const heldBackBy = whatHoldsBack({ ...crawl, waiting }, work?.get(id) ?? null, { pausedBy, stop });
      return { ...crawl, waiting, ...outlook, heldBackBy };
    }),
  );
}

type Outlook = Pick<NowCrawl, 'secondsLeft' | 'isGrowing'>;

const NO_OUTLOOK: Outlook = { secondsLeft: null, isGrowing: false };

async function readOutlook(
  db: Services['db'],
  { id, createdAt, found, done, open, pagesPerSecond }: Omit<CrawlOverview, 'remaining'>,
  atLeastMs: number,
  now: Date,
): Promise<Outlook> {
  const earlier = await readSampleAt(db, id, recentSince(createdAt, now));
  const ends = [
    { at: createdAt, found: 0, done: 0 },
    ...(earlier ? [earlier] : []),
    { at: now, found, done },
  ];
  const projection = project(ends, atLeastMs);
  const leftMs = timeLeftMs(projection, { open, pagesPerSecond: pagesPerSecond ?? 0, atLeastMs });
  return {
    secondsLeft: leftMs === null ? null : Math.ceil(leftMs / 1_000),
    isGrowing: projection?.isGrowing ?? false,
  };
}
