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
  next_attempt_at: Date | null;
}

export const ADMITTED_COLUMNS = Prisma.sql`id, url_hash, url, domain, kind::text, priority, attempts, next_attempt_at`;

export function toAdmittedPage(row: AdmittedRow): AdmittedPage {
  return {
    pageId: row.id.toString(),
    urlHash: Buffer.from(row.url_hash).toString('hex'),
    url: row.url,
    domain: row.domain,
    ...(row.kind === 'sitemap' && { sitemap: true }),
    priority: row.priority,
    attempts: row.attempts,
    nextAt: row.next_attempt_at?.getTime() ?? null,
  };
}

/** How long a page may take from its admission to its first request for a slot before the sweep checks on it. */
export const FIRST_TOUCH_WITHIN_MS = 60_000;

/** Pages that one call may admit: what its caller can start without filling a history. The sweep admits the rest. */
const MAX_ADMITTED = 200;

export interface Admission {
  crawlId: string;
  window: number;
  warmup: Warmup;
  /** An idempotency key: a repeated call with the same key returns the same pages. */
  admissionId: string;
  /** Only these domains; null: all of the crawl. */
  domains: readonly string[] | null;
  /** Pages admitted per domain at a time. Unset: as many as there is room for. */
  maxPerDomain?: number;
}

/** Admits pages while there is room, and returns all pages with this admission id that have not started. */
export async function admit(db: Database, admission: Admission): Promise<AdmittedPage[]> {
  let room = MAX_ADMITTED;
  const domains = await domainsToFill(db, admission);
  for (const [i, domain] of domains.entries()) {
    // Each domain gets its share, or the first in the alphabet would take everything.
    const share = Math.min(admission.maxPerDomain ?? room, Math.ceil(room / (domains.length - i)));
    if (share === 0) break;
    room -= await admitDomain(db, admission, domain, share);
  }
  const rows = await db.$queryRaw<AdmittedRow[]>`
    SELECT ${ADMITTED_COLUMNS} FROM pages WHERE admission_id = ${admission.admissionId} AND status = 'Queued'
    ORDER BY priority, rank, id`;
  return rows.map(toAdmittedPage);
}

/** The call that ends a crawl's warm-up admits pages of all domains: they have been waiting for it. */
async function domainsToFill(db: Database, admission: Admission): Promise<string[]> {
  const { crawlId, warmup } = admission;
  const found = await domainsWithRoom(db, admission);
  const isCold = found.some(({ warmed_up }) => !warmed_up);
  const rows =
    isCold && (await endWarmup(db, crawlId, warmup))
      ? await domainsWithRoom(db, { ...admission, domains: null })
      : found;
  return rows.map(({ domain }) => domain);
}

/** The domains that an admission considers: those it was given, or all domains of the crawl. */
export function candidateDomains(crawlId: string, domains: readonly string[] | null): Prisma.Sql {
  return domains === null
    ? Prisma.sql`SELECT domain FROM crawl_domains WHERE crawl_id = ${crawlId}`
    : Prisma.sql`SELECT unnest(${[...domains]}::text[]) AS domain`;
}

/**
 * Domains whose window is at most half full: filling them starts several pages in one workflow task instead of one task
 * per page. Read without a lock, so that not every page that links to a busy domain locks its row.
 */
async function domainsWithRoom(
  db: Database,
  { crawlId, window, domains }: Admission,
): Promise<{ domain: string; warmed_up: boolean }[]> {
  const query = Prisma.sql`
    SELECT candidate.domain, (SELECT warmed_up FROM crawls WHERE id = ${crawlId}) FROM (${candidateDomains(crawlId, domains)}) AS candidate
    WHERE (SELECT true FROM pages p WHERE p.crawl_id = ${crawlId} AND p.domain = candidate.domain
             AND p.status = 'Pending' AND p.next_attempt_at IS NULL AND p.kind = 'page'
           ORDER BY p.priority, p.rank, p.id LIMIT 1)
      AND (SELECT count(*) FROM (${queuedPages(crawlId, Prisma.sql`candidate.domain`, window)}) AS queued) <= ${Math.floor(window / 2)}
    ORDER BY candidate.domain LIMIT ${MAX_ADMITTED}`;
  return db.inTransaction((tx) => tx.$queryRaw<{ domain: string; warmed_up: boolean }[]>(query));
}

/**
 * The queued pages of a domain, up to the window. Ordered, and compared by BETWEEN, so that only their own index fits: while the
 * planner takes the crawl for tiny, any index of the crawl looks as good, and all of it would be read for each domain.
 */
function queuedPages(crawlId: string, domain: Prisma.Sql, window: number): Prisma.Sql {
  return Prisma.sql`
    SELECT 1 FROM pages q WHERE q.crawl_id = ${crawlId} AND q.domain BETWEEN ${domain} AND ${domain} AND q.status = 'Queued'
    ORDER BY q.domain LIMIT ${window}`;
}

async function admitDomain(
  db: Database,
  { crawlId, window, admissionId }: Admission,
  domain: string,
  atMost: number,
): Promise<number> {
  return db.inTransaction(async (tx) => {
    const [crawl] = await tx.$queryRaw<{ status: string; max_pages: number | null; warmed_up: boolean }[]>`
      SELECT c.status::text, c.max_pages, c.warmed_up FROM crawl_domains d JOIN crawls c ON c.id = d.crawl_id
      WHERE d.crawl_id = ${crawlId} AND d.domain = ${domain} FOR UPDATE OF d`;
    if (crawl?.status !== 'Running') return 0;
    // A separate statement: only one that starts after the lock was taken sees what the last holder admitted.
    const ready = await tx.$queryRaw<{ id: bigint }[]>`
      SELECT id FROM pages
      WHERE crawl_id = ${crawlId} AND domain = ${domain} AND status = 'Pending' AND next_attempt_at IS NULL AND kind = 'page'
        AND (${crawl.warmed_up} OR is_seed)
      ORDER BY priority, rank, id
      LIMIT least(${atMost}, ${window} - (SELECT count(*) FROM (${queuedPages(crawlId, Prisma.sql`${domain}`, window)}) AS queued))
      FOR UPDATE SKIP LOCKED`;
    const affordable = crawl.max_pages === null ? ready.length : await reserve(tx, crawlId, ready.length);
    if (affordable === 0) return 0;
    return tx.$executeRaw`
      UPDATE pages SET status = 'Queued', admission_id = ${admissionId}, updated_at = now(),
                       check_at = now() + ${FIRST_TOUCH_WITHIN_MS} * interval '1 millisecond'
      WHERE id = ANY(${ready.slice(0, affordable).map((row) => row.id)}::bigint[])`;
  });
}

/**
 * Reserves up to `wanted` pages of the crawl's budget and returns how many it got. This lock and inserts of pages, which
 * refer to the crawl, do not wait for each other.
 */
async function reserve(tx: Queries, crawlId: string, wanted: number): Promise<number> {
  if (wanted === 0) return 0;
  const [budget] = await tx.$queryRaw<{ left: number }[]>`
    SELECT (max_pages - pages_reserved) AS left FROM crawls WHERE id = ${crawlId} FOR NO KEY UPDATE`;
  const got = Math.max(0, Math.min(wanted, budget?.left ?? 0));
  if (got > 0)
    await tx.$executeRaw`UPDATE crawls SET pages_reserved = pages_reserved + ${got} WHERE id = ${crawlId}`;
  return got;
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
