/**
 * The window of the frontier: per crawl and domain at most `window` pages are Queued, which means that they have an open
 * workflow that is not asleep. Only admission makes a Pending page Queued. Sitemaps are admitted by admit-sitemaps.ts.
 */
import type { AdmittedPage } from '../../core/page-input.ts';
import type { Warmup } from '../../core/settings.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import type { UrlKind } from '../generated/enums.ts';
import type { Queries } from '../raw-sql.ts';
import { statusForPages } from '../stop.ts';
import { endWarmup } from './warm-up.ts';

/** An admitted page as the raw queries of this folder return it. */
export interface AdmittedRow {
  id: bigint;
  url_hash: Uint8Array;
  url: string;
  domain: string;
  kind: UrlKind;
  priority: number;
  attempts: number;
  attempts_before: number;
  next_attempt_at: Date | null;
}

export const ADMITTED_COLUMNS = Prisma.sql`id, url_hash, url, domain, kind::text, priority, attempts, attempts_before, next_attempt_at`;

export function toAdmittedPage(row: AdmittedRow): AdmittedPage {
  return {
    pageId: row.id.toString(),
    urlHash: Buffer.from(row.url_hash).toString('hex'),
    url: row.url,
    domain: row.domain,
    ...(row.kind === 'sitemap' && { sitemap: true }),
    priority: row.priority,
    attempts: row.attempts,
    ...(row.attempts_before > 0 && { attemptsBefore: row.attempts_before }),
    nextAt: row.next_attempt_at?.getTime() ?? null,
  };
}

/** How long a page may take from its admission to its first request for a slot before the sweep checks on it. */
export const FIRST_TOUCH_WITHIN_MS = 60_000;

/** Pages that one call may admit: what its caller can start without filling a history. Sweeps admit the rest. */
export const MAX_ADMITTED = 200;

export interface Admission {
  crawlId: string;
  window: number;
  warmup: Warmup;
  /** An idempotency key: a repeated call with the same key returns the same pages. */
  admissionId: string;
  /** Only these domains; null: all of the crawl. */
  domains: readonly string[] | null;
  /** Domains that go before all others if not all can be filled: those that set the end of the crawl. */
  first?: Iterable<string>;
  /** Only domains with at most this many pages in the window are filled. Unset: half a window. */
  refillAt?: number;
  /** Pages admitted per domain at a time. Unset: as many as there is room for. */
  maxPerDomain?: number;
  /** Pages admitted in all. */
  maxAdmitted?: number;
}

export interface Admitted {
  /** All pages with this admission id that have not started. */
  pages: AdmittedPage[];
  /** No page of the crawl had a workflow before this admission. */
  wasIdle: boolean;
}

/** Admits pages while there is room. */
export async function admit(db: Database, admission: Admission): Promise<Admitted> {
  const room = admission.maxAdmitted ?? MAX_ADMITTED;
  const { domains, isRepeated, wasIdle } = await domainsToFill(db, admission);
  if (domains.length === 0 && !isRepeated) return { pages: [], wasIdle };
  const admitted: AdmittedPage[] = [];
  for (const [i, domain] of domains.entries()) {
    // Each domain gets its share, or the first in the alphabet would take everything.
    const left = room - admitted.length;
    const share = Math.min(admission.maxPerDomain ?? left, Math.ceil(left / (domains.length - i)));
    if (share === 0) break;
    admitted.push(...(await db.inTransaction((tx) => admitPages(tx, admission, domain, share))));
  }
  if (!isRepeated) return { pages: admitted, wasIdle };
  const rows = await db.$queryRaw<AdmittedRow[]>`
    SELECT ${ADMITTED_COLUMNS} FROM pages WHERE admission_id = ${admission.admissionId} AND status = 'Queued'
    ORDER BY priority, rank, id`;
  return { pages: rows.map(toAdmittedPage), wasIdle };
}

/** What an admission finds. */
interface Room {
  /** Domains whose window has room for several pages, and that have pages to fill it with. */
  domains: string[];
  warmedUp: boolean;
  /** Pages were admitted with this id before. */
  isRepeated: boolean;
  wasIdle: boolean;
}

/** The call that ends a crawl's warm-up admits pages of all domains: they have been waiting for it. */
async function domainsToFill(db: Database, admission: Admission): Promise<Room> {
  const room = await findRoom(db, admission);
  const endsWarmup = !room.warmedUp && (await endWarmup(db, admission.crawlId, admission.warmup));
  return endsWarmup ? findRoom(db, { ...admission, domains: null }) : room;
}

/** The domains that an admission considers: those it was given, or all domains of the crawl. */
export function candidateDomains(crawlId: string, domains: readonly string[] | null): Prisma.Sql {
  return domains === null
    ? Prisma.sql`SELECT domain FROM crawl_domains WHERE crawl_id = ${crawlId}`
    : Prisma.sql`SELECT unnest(${[...domains]}::text[]) AS domain`;
}

/**
 * Finds domains whose window is at most half full, or less: filling them starts several pages in one workflow task instead of one task
 * per page. Read without a lock, so that not every page that links to a busy domain locks its row.
 */
async function findRoom(
  db: Database,
  { crawlId, window, domains, admissionId, refillAt = Math.floor(window / 2), first = [] }: Admission,
): Promise<Room> {
  const [room] = await db.$queryRaw<Room[]>`
    SELECT warmed_up AS "warmedUp", ${noPageAdmitted(crawlId)} AS "wasIdle",
           EXISTS (SELECT 1 FROM pages WHERE admission_id = ${admissionId} AND status = 'Queued') AS "isRepeated",
           ARRAY(SELECT candidate.domain FROM (${candidateDomains(crawlId, domains)}) AS candidate
                 WHERE (SELECT true FROM pages p WHERE p.crawl_id = ${crawlId} AND p.domain = candidate.domain
                          AND p.status = 'Pending' AND p.next_attempt_at IS NULL AND p.kind = 'page'
                        ORDER BY p.priority, p.rank, p.id LIMIT 1)
                   AND ${countQueued(crawlId, Prisma.sql`candidate.domain`, window)} <= ${refillAt}
                 ORDER BY candidate.domain <> ALL(${[...first]}::text[]), candidate.domain
                 LIMIT ${MAX_ADMITTED}) AS domains
    FROM crawls WHERE id = ${crawlId}`;
  return room ?? { domains: [], warmedUp: true, isRepeated: false, wasIdle: true };
}

export async function isCrawlIdle(db: Database, crawlId: string): Promise<boolean> {
  const [crawl] = await db.$queryRaw<{ idle: boolean }[]>`SELECT ${noPageAdmitted(crawlId)} AS idle`;
  return crawl?.idle === true;
}

/** Whether no page has a workflow. Pending pages may still be admitted. */
export function noPageAdmitted(crawlId: string): Prisma.Sql {
  return Prisma.sql`
    (NOT EXISTS (SELECT 1 FROM pages WHERE crawl_id = ${crawlId} AND status = 'Queued')
     AND NOT EXISTS (SELECT 1 FROM pages WHERE crawl_id = ${crawlId} AND status = 'Waiting'))`;
}

/** The number of queued pages of a domain, up to the window. */
export function countQueued(crawlId: string, domain: Prisma.Sql, window: number): Prisma.Sql {
  return Prisma.sql`(SELECT count(*) FROM (${queuedPages(crawlId, domain, window)}) AS queued)`;
}

/**
 * Ordered, and compared by BETWEEN, so that only their own index fits: while the planner takes the crawl for tiny, any index of the crawl
 * looks as good, and all of it would be read for each domain.
 */
function queuedPages(crawlId: string, domain: Prisma.Sql, window: number): Prisma.Sql {
  return Prisma.sql`
    SELECT * FROM pages q WHERE q.crawl_id = ${crawlId} AND q.domain BETWEEN ${domain} AND ${domain} AND q.status = 'Queued'
    ORDER BY q.domain LIMIT ${window}`;
}

/**
 * Admits up to `atMost` pages of one domain. It locks the domain, and with a budget the crawl: a transaction that has more to do after that
 * may wait for one that waits for it.
 */
export async function admitPages(
  tx: Queries,
  { crawlId, window, admissionId }: Pick<Admission, 'crawlId' | 'window' | 'admissionId'>,
  domain: string,
  atMost: number,
): Promise<AdmittedPage[]> {
  const [crawl] = await tx.$queryRaw<{ status: string; max_pages: number | null; warmed_up: boolean }[]>`
    SELECT ${statusForPages(Prisma.sql`c.status`)} AS status, c.max_pages, c.warmed_up FROM crawl_domains d JOIN crawls c ON c.id = d.crawl_id
    WHERE d.crawl_id = ${crawlId} AND d.domain = ${domain} FOR UPDATE OF d`;
  if (crawl?.status !== 'Running') return [];
  const hasBudget = crawl.max_pages !== null;
  const affordable = hasBudget ? await reserve(tx, crawlId, atMost) : atMost;
  if (affordable === 0) return [];
  // A separate statement: only one that starts after the lock was taken sees what the last holder admitted.
  const rows = await tx.$queryRaw<RankedRow[]>`
    WITH admitted AS (
      UPDATE pages SET status = 'Queued', admission_id = ${admissionId}, updated_at = now(),
                       check_at = now() + ${FIRST_TOUCH_WITHIN_MS} * interval '1 millisecond'
      WHERE id = ANY(ARRAY(
        SELECT id FROM pages
        WHERE crawl_id = ${crawlId} AND domain = ${domain} AND status = 'Pending' AND next_attempt_at IS NULL AND kind = 'page'
          AND (${crawl.warmed_up} OR is_seed)
        ORDER BY priority, rank, id
        LIMIT least(${affordable}, ${window} - ${countQueued(crawlId, Prisma.sql`${domain}`, window)})
        FOR UPDATE SKIP LOCKED))
      RETURNING ${ADMITTED_COLUMNS}, rank)
    SELECT ${ADMITTED_COLUMNS}, rank, true AS is_new FROM admitted
    UNION ALL
    SELECT ${ADMITTED_COLUMNS}, rank, false AS is_new FROM (${queuedPages(crawlId, Prisma.sql`${domain}`, window)}) AS queued
    WHERE admission_id = ${admissionId}`;
  const unused = affordable - rows.filter(({ is_new }) => is_new).length;
  if (hasBudget && unused > 0) await refund(tx, crawlId, unused);
  return rows.toSorted(byOrder).map(toAdmittedPage);
}

interface RankedRow extends AdmittedRow {
  rank: number;
  /** false: another run of the same step, at the same moment, has admitted it. */
  is_new: boolean;
}

function byOrder(one: RankedRow, other: RankedRow): number {
  return one.priority - other.priority || one.rank - other.rank || (one.id < other.id ? -1 : 1);
}

/**
 * Reserves up to `wanted` pages of the crawl's budget and returns how many it got. This lock and inserts of pages, which
 * refer to the crawl, do not wait for each other.
 */
async function reserve(tx: Queries, crawlId: string, wanted: number): Promise<number> {
  const [budget] = await tx.$queryRaw<{ got: number }[]>`
    WITH budget AS (
      SELECT id, least(${wanted}::int, max_pages - pages_reserved) AS got FROM crawls WHERE id = ${crawlId} FOR NO KEY UPDATE)
    UPDATE crawls SET pages_reserved = pages_reserved + got FROM budget WHERE crawls.id = budget.id AND got > 0
    RETURNING got`;
  return budget?.got ?? 0;
}

/** Returns the reservation of a page that was admitted but not fetched. */
export async function refundPage(tx: Queries, page: { crawl_id: string; kind: UrlKind }): Promise<void> {
  if (page.kind === 'page') await refund(tx, page.crawl_id, 1);
}

/** Returns reserved pages to the budget. Sitemaps are not charged to it. */
export async function refund(tx: Queries, crawlId: string, pages: number): Promise<void> {
  await tx.$executeRaw`
    UPDATE crawls SET pages_reserved = greatest(0, pages_reserved - ${pages})
    WHERE id = ${crawlId} AND max_pages IS NOT NULL`;
}
