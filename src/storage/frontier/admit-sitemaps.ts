/**
 * Sitemaps are admitted one at a time in each domain, and only while the crawl may fetch more pages than it knows: of a
 * thousand sitemaps a crawl of a hundred pages reads no more than it needs. They are no charge on its budget.
 */

import type { Database } from '../database.ts';
import { candidateDomains, FIRST_SIGN_MS } from './admit.ts';

export interface SitemapAdmission {
  crawlId: string;
  /** As for pages: `admit`, asked by the same afterwards, returns what was admitted here. */
  by: string;
  /** Only these domains; null: all of the crawl. */
  domains: readonly string[] | null;
}

/** Two at a time may both admit one of the same domain, which does no harm: there is no lock to wait for. */
export async function admitSitemaps(db: Database, { crawlId, by, domains }: SitemapAdmission): Promise<void> {
  const next = await nextSitemaps(db, crawlId, domains);
  if (next.length === 0 || !(await wantsPages(db, crawlId))) return;
  await db.$executeRaw`
    UPDATE pages SET status = 'Queued', admission_id = ${by}, updated_at = now(),
                     check_at = now() + ${FIRST_SIGN_MS} * interval '1 millisecond'
    WHERE id IN (SELECT id FROM pages WHERE id = ANY(${next}::bigint[]) AND status = 'Pending' FOR UPDATE SKIP LOCKED)`;
}

/** The first in line of each domain that has none under way. */
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

/** Not counted further: what is left of a larger budget is worth another sitemap. */
const MOST_COUNTED = 10_000;

/** The crawl goes on, and its budget is more than the pages that wait for it already. */
async function wantsPages(db: Database, crawlId: string): Promise<boolean> {
  const [crawl] = await db.$queryRaw<{ wants: boolean }[]>`
    SELECT max_pages IS NULL OR max_pages - pages_reserved > (
      SELECT count(*) FROM (
        SELECT 1 FROM pages WHERE crawl_id = ${crawlId} AND kind = 'page' AND status = 'Pending'
        LIMIT least(${MOST_COUNTED}, greatest(0, max_pages - pages_reserved))) AS known) AS wants
    FROM crawls WHERE id = ${crawlId} AND status = 'Running'`;
  return crawl?.wants ?? false;
}
