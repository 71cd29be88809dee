/**
 * Sitemaps are admitted one at a time per domain, and only while the crawl may fetch more pages than it has found: a crawl of
 * a hundred pages reads only as many of a thousand sitemaps as it needs. They are not charged to its budget.
 */

import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import { statusForPages } from '../stop.ts';
import { candidateDomains, FIRST_TOUCH_WITHIN_MS } from './admit.ts';

export interface SitemapAdmission {
  crawlId: string;
  /** `admit`, called with the same id afterwards, returns the sitemaps that were admitted here. */
  admissionId: string;
  /** Only these domains; null: all of the crawl. */
  domains: readonly string[] | null;
}

/** Two concurrent calls may each admit a sitemap of the same domain. That is harmless, so there is no lock. */
export async function admitSitemaps(
  db: Database,
  { crawlId, admissionId, domains }: SitemapAdmission,
): Promise<void> {
  const next = await nextSitemaps(db, crawlId, domains);
  if (next.length === 0 || !(await hasBudgetLeft(db, crawlId))) return;
  await db.$executeRaw`
    UPDATE pages SET status = 'Queued', admission_id = ${admissionId}, updated_at = now(),
                     check_at = now() + ${FIRST_TOUCH_WITHIN_MS} * interval '1 millisecond'
    WHERE id IN (SELECT id FROM pages WHERE id = ANY(${next}::bigint[]) AND status = 'Pending' FOR UPDATE SKIP LOCKED)`;
}

/** The first pending sitemap of each domain that has none in progress. */
async function nextSitemaps(
  db: Database,
  crawlId: string,
  domains: readonly string[] | null,
): Promise<bigint[]> {
  const rows = await db.$queryRaw<{ id: bigint }[]>`
    SELECT first.id FROM (${candidateDomains(crawlId, domains)}) AS candidate
    CROSS JOIN LATERAL (
      SELECT id FROM pages WHERE crawl_id = ${crawlId} AND domain = candidate.domain AND kind = 'sitemap'
                             AND status = 'Pending' AND next_attempt_at IS NULL
      ORDER BY id LIMIT 1) AS first
    WHERE NOT EXISTS (SELECT 1 FROM pages WHERE crawl_id = ${crawlId} AND domain = candidate.domain
                      AND kind = 'sitemap' AND status = 'Queued')`;
  return rows.map(({ id }) => id);
}

/** Not counted further: if more than this is left of the budget, another sitemap is worth reading. */
const MAX_COUNTED = 10_000;

/** Whether the crawl is running and its budget exceeds the pages that are already pending. */
async function hasBudgetLeft(db: Database, crawlId: string): Promise<boolean> {
  const [crawl] = await db.$queryRaw<{ wants: boolean }[]>`
    SELECT max_pages IS NULL OR max_pages - pages_reserved > (
      SELECT count(*) FROM (
        SELECT 1 FROM pages WHERE crawl_id = ${crawlId} AND kind = 'page' AND status = 'Pending'
        LIMIT least(${MAX_COUNTED}, greatest(0, max_pages - pages_reserved))) AS known) AS wants
    FROM crawls WHERE id = ${crawlId} AND ${statusForPages(Prisma.sql`status`)} = 'Running'`;
  return crawl?.wants ?? false;
}
