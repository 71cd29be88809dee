/** The progress of a crawl: what the live display shows and `--json` prints. */
import { FINAL_STATUSES, OPEN_STATUSES, type Outcome, type PageStatus } from '../../core/outcome.ts';
import type { SkipCounts } from '../../urls/index.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import type { CrawlStatus, UrlKind } from '../generated/enums.ts';
import { domainCounts, readLinkCounts, readPageCounts } from './counts.ts';

export interface Progress {
  crawl: string;
  status: CrawlStatus;
  /** Why it ended, if that is not obvious. */
  reason: string | null;
  /** The sum of `pages`. */
  found: number;
  pages: Record<PageStatus, number>;
  /** The same for sitemaps, which do not count as pages. */
  sitemaps: Record<PageStatus, number>;
  /** Of pages and of sitemaps. */
  attempts: Record<Outcome, number>;
  /** Links that did not become pages, by reason. A link on two pages counts twice. */
  skipped: SkipCounts;
  /** From its start to its end, or to now. */
  seconds: number;
  /** A few domains whose gap has not passed yet, the next one to be ready first. */
  cooling: CoolingDomain[];
}

export interface CoolingDomain {
  domain: string;
  readyInMs: number;
}

const MAX_COOLING = 5;

/** Domains that are checked for that: a crawl may have thousands. */
const MAX_DOMAINS = 50;

/** null: there is no such crawl. */
export async function readProgress(db: Database, crawlId: string): Promise<Progress | null> {
  const crawl = await db.crawl.findUnique({
    where: { id: crawlId },
    select: { status: true, reason: true, createdAt: true, finishedAt: true },
  });
  if (!crawl) return null;
  const [{ pages, sitemaps }, attempts, links, cooling] = await Promise.all([
    countPages(db, crawlId),
    countAttempts(db, crawlId),
    readLinkCounts(db, crawlId),
    crawl.finishedAt ? [] : readCooling(db, crawlId),
  ]);
  return {
    crawl: crawlId,
    status: crawl.status,
    reason: crawl.reason,
    found: Object.values(pages).reduce((sum, count) => sum + count, 0),
    pages,
    sitemaps,
    attempts,
    skipped: links.skipped,
    seconds: ((crawl.finishedAt ?? new Date()).getTime() - crawl.createdAt.getTime()) / 1_000,
    cooling,
  };
}

export function hasEnded({ status }: Pick<Progress, 'status'>): boolean {
  return status === 'Completed' || status === 'Cancelled' || status === 'Failed';
}

export function openPages({ pages }: Progress): number {
  return OPEN_STATUSES.reduce((sum, status) => sum + pages[status], 0);
}

export function donePages({ pages }: Progress): number {
  return FINAL_STATUSES.reduce((sum, status) => sum + pages[status], 0);
}

/** The crawls in this database, newest first. */
export async function listCrawls(db: Database, limit: number): Promise<Progress[]> {
  const crawls = await db.crawl.findMany({
    select: { id: true },
    orderBy: { createdAt: 'desc' },
    take: limit,
  });
  const all = await Promise.all(crawls.map(({ id }) => readProgress(db, id)));
  return all.filter((progress) => progress !== null);
}

export interface DomainCounts {
  domain: string;
  found: number;
  open: number;
  fetched: number;
  failed: number;
  /** By an operator, for all crawls. */
  paused: boolean;
}

/** The domains with the most pages first. */
export async function readDomains(db: Database, crawlId: string, limit: number): Promise<DomainCounts[]> {
  return db.$queryRaw<DomainCounts[]>`
    SELECT domain, found, open, fetched, failed,
           -- Not joined: of a few thousand domains, the planner might read all.
           coalesce((SELECT paused FROM domains WHERE name = counted.domain), false) AS paused
    FROM (${domainCounts(crawlId, Prisma.sql`found`, limit)}) AS counted
    ORDER BY found DESC, domain LIMIT ${limit}`;
}

export interface OpenPage {
  url: string;
  status: PageStatus;
  attempts: number;
  nextAttemptAt: Date | null;
  reason: string | null;
}

/** Pages that have a workflow, and why they have not been fetched yet. */
export async function readOpenPages(db: Database, crawlId: string, limit: number): Promise<OpenPage[]> {
  return db.page.findMany({
    where: { crawlId, status: { in: ['Queued', 'Waiting'] } },
    select: { url: true, status: true, attempts: true, nextAttemptAt: true, reason: true },
    orderBy: [{ nextAttemptAt: { sort: 'asc', nulls: 'first' } }, { priority: 'asc' }, { id: 'asc' }],
    take: limit,
  });
}

const NO_PAGE_COUNTS: Record<PageStatus, number> = {
  Pending: 0,
  Queued: 0,
  Waiting: 0,
  Fetched: 0,
  Redirected: 0,
  Rejected: 0,
  Blocked: 0,
  Failed: 0,
  Cancelled: 0,
};

async function countPages(db: Database, crawlId: string): Promise<Pick<Progress, 'pages' | 'sitemaps'>> {
  const rows = await readPageCounts(db, crawlId);
  const of = (kind: UrlKind): Record<PageStatus, number> => ({
    ...NO_PAGE_COUNTS,
    ...Object.fromEntries(rows.filter((row) => row.kind === kind).map((row) => [row.status, row.pages])),
  });
  return { pages: of('page'), sitemaps: of('sitemap') };
}

const NO_ATTEMPT_COUNTS: Record<Outcome, number> = {
  Success: 0,
  Rejected: 0,
  Blocked4xx: 0,
  Blocked5xx: 0,
  BlockedRobots: 0,
  Failed: 0,
  Timeout: 0,
};

async function countAttempts(db: Database, crawlId: string): Promise<Record<Outcome, number>> {
  const rows = await db.$queryRaw<{ outcome: Outcome; count: number }[]>`
    SELECT outcome::text AS outcome, sum(attempts)::int AS count
    FROM (SELECT outcome, attempts FROM crawl_attempt_counts WHERE crawl_id = ${crawlId}
          UNION ALL
          SELECT outcome, attempts FROM crawl_changes WHERE crawl_id = ${crawlId} AND outcome IS NOT NULL) AS counted
    GROUP BY outcome`;
  return { ...NO_ATTEMPT_COUNTS, ...Object.fromEntries(rows.map((row) => [row.outcome, row.count])) };
}

/** Only domains with queued pages: the others have nothing to wait for. */
async function readCooling(db: Database, crawlId: string): Promise<CoolingDomain[]> {
  return db.$queryRaw<CoolingDomain[]>`
    SELECT queued.domain, ceil(latest.ready_in_ms)::int AS "readyInMs"
    FROM (
      SELECT DISTINCT domain FROM pages
      WHERE crawl_id = ${crawlId} AND status = 'Queued' ORDER BY domain LIMIT ${MAX_DOMAINS}
    ) queued
    CROSS JOIN LATERAL (
      SELECT min_gap_ms - extract(epoch FROM now() - started_at) * 1000 AS ready_in_ms
      FROM requests WHERE domain = queued.domain ORDER BY started_at DESC LIMIT 1
    ) latest
    WHERE latest.ready_in_ms > 0
    ORDER BY latest.ready_in_ms LIMIT ${MAX_COOLING}`;
}
