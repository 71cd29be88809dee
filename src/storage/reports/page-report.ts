/** Everything the tables know about one page: its status, the pages before it in the queue, its attempts. */
import { originOf } from '../../urls/index.ts';
import { type CrawlRecord, toSettings } from '../crawls.ts';
import type { Database } from '../database.ts';
import type { Page, PageCrawl } from '../generated/client.ts';
import { type RecordedOrder, readPauseOrder } from '../orders.ts';
import { readStop } from '../stop.ts';
import { findPage } from './find-page.ts';

const SHOWN = {
  id: true,
  crawlId: true,
  url: true,
  urlHash: true,
  domain: true,
  kind: true,
  status: true,
  reason: true,
  depth: true,
  priority: true,
  rank: true,
  isSeed: true,
  attempts: true,
  attemptsBefore: true,
  nextAttemptAt: true,
  redirectTo: true,
  statusCode: true,
  title: true,
  fetchedAt: true,
} as const;

type ReportedPage = Pick<Page, keyof typeof SHOWN>;

interface ReportedCrawl {
  id: string;
  status: CrawlRecord['status'];
  /** Who paused it, and why. Of a paused one. */
  pausedBy?: RecordedOrder | null;
  /** The order that stopped everything. null: nothing is stopped. */
  stoppedBy?: RecordedOrder | null;
  /** Of this page. */
  maximumAttempts: number;
  window: number;
  /** Until then, or until this many pages are pending, only seeds are fetched. null: the warm-up is over. */
  warmup: { pending: number; until: Date } | null;
  /** `reserved`: pages that were fetched or are in progress. null: no limit. */
  budget: { maxPages: number; reserved: number } | null;
}

export interface PageReport {
  crawl: ReportedCrawl;
  /** Other crawls that have this URL, the newest first. */
  alsoIn: string[];
  page: ReportedPage;
  /** The latest 100, in order. */
  attempts: PageCrawl[];
  /**
   * Only for a Pending page that is due: how many of its kind are admitted before it in its domain, counted up to
   * `MAX_COUNTED_BEFORE`, and how many of any kind are in progress.
   */
  before: { pending: number; queued: number } | null;
  /** null: its robots.txt was read, or has not been requested yet. */
  robotsFailure: { error: string; since: Date; retryAt: Date } | null;
  /** The redirects that lead to this page and on from it. */
  chain: ChainLink[];
}

/** From the newest crawl that has it, unless one is given. null: no crawl has it. */
export async function readPage(db: Database, rawUrl: string, crawlId?: string): Promise<PageReport | null> {
  const located = await findPage(db, rawUrl, crawlId);
  const page = located && (await db.page.findUnique({ where: { id: located.id }, select: SHOWN }));
  const found = page && (await readReportedCrawl(db, page));
  if (!located || !page || !found) return null;
  const { alsoIn } = located;
  const { crawl, maxRedirects } = found;
  const [attempts, before, robotsTrouble, chain] = await Promise.all([
    readAttempts(db, page.id),
    page.status === 'Pending' && page.nextAttemptAt === null ? countBefore(db, page) : null,
    findRobotsFailure(db, page),
    readChain(db, page, maxRedirects),
  ]);
  return { crawl, alsoIn, page, attempts, before, robotsFailure: robotsTrouble, chain };
}

/** A crawl may allow any number. */
const MAX_ATTEMPTS = 100;

async function readAttempts(db: Database, pageId: bigint): Promise<PageCrawl[]> {
  const latest = { orderBy: { attempt: 'desc' }, take: MAX_ATTEMPTS } as const;
  return (await db.pageCrawl.findMany({ where: { pageId }, ...latest })).reverse();
}

async function readReportedCrawl(
  db: Database,
  { crawlId: id, attemptsBefore }: ReportedPage,
): Promise<{ crawl: ReportedCrawl; maxRedirects: number } | null> {
  const row = await db.crawl.findUnique({ where: { id } });
  if (row === null) return null;
  const { retry, window, warmup, maxRedirects } = toSettings(row.settings);
  const crawl: ReportedCrawl = {
    id,
    status: row.status,
    pausedBy: row.status === 'Paused' ? await readPauseOrder(db, { crawlId: id }) : null,
    stoppedBy: row.status === 'Running' ? await readStop(db) : null,
    maximumAttempts: attemptsBefore + retry.maximumAttempts,
    window,
    warmup: row.warmedUp
      ? null
      : { pending: warmup.pending, until: new Date(row.createdAt.getTime() + warmup.atMostMs) },
    budget: row.maxPages === null ? null : { maxPages: row.maxPages, reserved: row.pagesReserved },
  };
  return { crawl, maxRedirects };
}

/** More would only be read to be counted. */
export const MAX_COUNTED_BEFORE = 10_000;

async function countBefore(
  db: Database,
  { crawlId, domain, kind, priority, rank, id }: ReportedPage,
): Promise<{ pending: number; queued: number }> {
  const [[pending], queued] = await Promise.all([
    db.$queryRaw<{ count: number }[]>`
      SELECT count(*)::int AS count FROM (
        SELECT 1 FROM pages
        WHERE crawl_id = ${crawlId} AND domain = ${domain} AND kind = ${kind}::url_kind AND status = 'Pending'
          AND next_attempt_at IS NULL AND (priority, rank, id) < (${priority}, ${rank}, ${id})
        LIMIT ${MAX_COUNTED_BEFORE}) AS before`,
    db.page.count({ where: { crawlId, domain, status: 'Queued' } }),
  ]);
  return { pending: pending?.count ?? 0, queued };
}

async function findRobotsFailure(db: Database, { url }: ReportedPage): Promise<PageReport['robotsFailure']> {
  const row = await db.robots.findUnique({
    where: { origin: originOf(url) },
    select: { error: true, retryAt: true, fetchedAt: true, failingSince: true },
  });
  // Rules that were read once stay in force while a refresh fails.
  if (!row?.error || row.retryAt === null || row.fetchedAt !== null) return null;
  return { error: row.error, since: row.failingSince ?? row.retryAt, retryAt: row.retryAt };
}

interface ChainLink {
  url: string;
  /** Distance from the page in redirects: negative before it, positive after it. */
  step: number;
}

/** Some sites redirect all their old URLs to one page. */
const MAX_BEFORE = 20;

/** The chain of redirects that the page is part of, in order, without the page itself. [] if no redirect leads to it or away from it. */
async function readChain(
  db: Database,
  page: { id: bigint; crawlId: string; url: string },
  maxRedirects: number,
): Promise<ChainLink[]> {
  // The last redirect is not followed, but its target is known.
  const farthest = maxRedirects + 1;
  const [before, after] = await Promise.all([
    db.$queryRaw<ChainLink[]>`
      WITH RECURSIVE back (id, url, step) AS (
        SELECT id, url, 0 FROM pages WHERE id = ${page.id}
        UNION ALL
        SELECT source.id, source.url, step - 1 FROM back JOIN pages source
          ON source.redirect_to = back.url AND source.crawl_id = ${page.crawlId}
        WHERE step > ${-farthest})
      SELECT url, step FROM back WHERE step < 0 ORDER BY step DESC, id LIMIT ${MAX_BEFORE}`,
    db.$queryRaw<ChainLink[]>`
      WITH RECURSIVE ahead (url, step) AS (
        SELECT redirect_to, 1 FROM pages WHERE id = ${page.id}
        UNION ALL
        SELECT next.redirect_to, step + 1 FROM ahead JOIN pages next
          ON next.crawl_id = ${page.crawlId} AND next.url_hash = sha256(convert_to(ahead.url, 'UTF8'))
        WHERE step < ${farthest})
      SELECT url, step FROM ahead WHERE url IS NOT NULL ORDER BY step`,
  ]);
  // A loop would repeat its pages.
  const seen = new Set([page.url]);
  const isNew = ({ url }: ChainLink): boolean => !seen.has(url) && Boolean(seen.add(url));
  return [...before.filter(isNew), ...after.filter(isNew)].sort((one, other) => one.step - other.step);
}
