/** All crawls at a glance: how far they are, how fast, and what they wait for. */
import { OPEN_STATUSES } from '../../core/outcome.ts';
import { toSettings } from '../crawls.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import type { CrawlStatus } from '../generated/enums.ts';
import { type CrawlSample, countPages, readLatestSamples } from './counts.ts';
import { type DomainRemaining, readRemaining } from './remaining.ts';

export interface CrawlOverview {
  id: string;
  status: CrawlStatus;
  /** Why it ended, if that is not obvious. */
  reason: string | null;
  createdAt: Date;
  finishedAt: Date | null;
  /** The sum of `pages`. */
  found: number;
  done: number;
  open: number;
  pages: Readonly<Record<string, number>>;
  /** Pages that ended per second, lately. null: the crawl has ended. */
  pagesPerSecond: number | null;
  /** How it grew lately, in order of time. Empty: the crawl has ended, or has just begun. */
  samples: CrawlSample[];
  /** The domains with the most open pages, in no order. null: the crawl has ended. */
  remaining: DomainRemaining[] | null;
}

/** Attempts that are read for the rate: a bound on the rows, and hours of a polite crawl. */
const MAX_RECENT = 2_000;
const RATE_WINDOW_S = 300;

interface CrawlRow extends Pick<CrawlOverview, 'id' | 'status' | 'reason' | 'createdAt' | 'finishedAt'> {
  settings: Prisma.JsonValue;
  ageS: number;
}

const COLUMNS = Prisma.sql`
  id, status::text AS status, reason, created_at AS "createdAt", finished_at AS "finishedAt", settings,
  extract(epoch FROM now() - created_at)::float8 AS "ageS"`;

/** Where a part of the list of crawls ends. */
export interface CrawlPlace extends Pick<CrawlOverview, 'id' | 'createdAt'> {
  ended: boolean;
}

/** Unfinished crawls first, then the newest. */
export async function readOverview(
  db: Database,
  limit: number,
  after: CrawlPlace | null = null,
): Promise<CrawlOverview[]> {
  const isLater =
    after === null
      ? Prisma.sql`true`
      : Prisma.sql`(finished_at IS NOT NULL) >= ${after.ended} AND
          ((finished_at IS NOT NULL) > ${after.ended} OR (created_at, id) < (${after.createdAt}, ${after.id}))`;
  const crawls = await db.$queryRaw<CrawlRow[]>`
    SELECT ${COLUMNS} FROM crawls WHERE ${isLater}
    ORDER BY finished_at IS NOT NULL, created_at DESC, id DESC LIMIT ${limit}`;
  return describe(db, crawls);
}

/** null: there is no such crawl. */
export async function readCrawlOverview(db: Database, crawlId: string): Promise<CrawlOverview | null> {
  const crawls = await db.$queryRaw<CrawlRow[]>`SELECT ${COLUMNS} FROM crawls WHERE id = ${crawlId}`;
  return (await describe(db, crawls))[0] ?? null;
}

async function describe(db: Database, crawls: readonly CrawlRow[]): Promise<CrawlOverview[]> {
  const open = crawls.filter(({ finishedAt }) => finishedAt === null);
  const openIds = open.map(({ id }) => id);
  const [counts, rates, samples, remaining] = await Promise.all([
    Promise.all(crawls.map(({ id }) => countPages(db, id))),
    readRates(db),
    readLatestSamples(db, openIds),
    Promise.all(
      open.map(async ({ id, settings }) => [id, await readRemaining(db, id, toSettings(settings))] as const),
    ),
  ]);
  const remainingOf = new Map(remaining);
  return crawls.map(({ ageS, settings: _, ...crawl }, index) => {
    const { found, pages } = counts[index] ?? { found: 0, pages: {} };
    const openPages = OPEN_STATUSES.reduce((sum, status) => sum + (pages[status] ?? 0), 0);
    const windowS = Math.max(1, Math.min(rates.windowS, ageS));
    return {
      ...crawl,
      found,
      done: found - openPages,
      open: openPages,
      pages,
      pagesPerSecond: crawl.finishedAt === null ? (rates.ended.get(crawl.id) ?? 0) / windowS : null,
      samples: samples.get(crawl.id) ?? [],
      remaining: remainingOf.get(crawl.id) ?? null,
    };
  });
}

/** By crawl, from the last attempts of all crawls: their ids are in the order of time, so none are searched for. */
async function readRates(db: Database): Promise<{ windowS: number; ended: Map<string, number> }> {
  const rows = await db.$queryRaw<{ crawl: string; ended: number; oldestS: number; read: number }[]>`
    WITH recent AS (SELECT page_id, next_attempt_at, created_at FROM page_crawls ORDER BY id DESC LIMIT ${MAX_RECENT}),
    span AS (SELECT count(*)::int AS read, extract(epoch FROM now() - min(created_at))::float8 AS oldest FROM recent)
    SELECT page.crawl_id AS crawl, count(*)::int AS ended, span.oldest AS "oldestS", span.read
    FROM recent JOIN pages page ON page.id = recent.page_id CROSS JOIN span
    WHERE recent.next_attempt_at IS NULL AND recent.created_at > now() - make_interval(secs => ${RATE_WINDOW_S})
    GROUP BY page.crawl_id, span.oldest, span.read`;
  const [first] = rows;
  // If the bound was reached, the attempts before the oldest one are not known.
  const windowS = first && first.read === MAX_RECENT ? Math.min(first.oldestS, RATE_WINDOW_S) : RATE_WINDOW_S;
  return { windowS, ended: new Map(rows.map(({ crawl, ended }) => [crawl, ended])) };
}
