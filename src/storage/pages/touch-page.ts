/** A page touches its row before it asks for a slot, and learns whether it still has work to do. */
import type { Database } from '../database.ts';
import { excludedBy, rejectedFor } from '../excluded-by.ts';
import { Prisma } from '../generated/client.ts';
import { statusForPages } from '../stop.ts';

export type Touched = { continues: true } | { continues: false; crawlOver: boolean };

const STATUS = statusForPages(Prisma.sql`c.status`);

/** Sitemaps are read whatever is excluded, like those that links lead to. */
const EXCLUDED = Prisma.sql`
  CASE WHEN p.kind = 'page' THEN ${excludedBy(Prisma.sql`p.url`, Prisma.sql`c.excluded`)} END`;

/** A row that was written at most this part of `quietMs` ago, as when its page was admitted, is not written again. */
const FRESH_PART = 0.2;

/** `quietMs`: after this time without another touch, the sweep checks whether its workflow is still running. */
export async function touchPage(db: Database, pageId: string, quietMs: number): Promise<Touched> {
  const [row] = await db.$queryRaw<{ crawl: string; continues: boolean; excluded: string | null }[]>`
    WITH page AS (
      SELECT p.id, ${STATUS} AS crawl, ${EXCLUDED} AS excluded, p.status IN ('Queued', 'Waiting') AS open,
             p.status = 'Queued' AND p.next_attempt_at IS NULL AND p.reason IS NULL
               AND p.check_at > now() + ${quietMs * (1 - FRESH_PART)} * interval '1 millisecond' AS fresh
      FROM pages p JOIN crawls c ON c.id = p.crawl_id WHERE p.id = ${BigInt(pageId)}),
    touched AS (
      UPDATE pages p SET status = 'Queued', next_attempt_at = NULL, reason = NULL, updated_at = now(),
                         check_at = now() + ${quietMs} * interval '1 millisecond'
      FROM page WHERE p.id = page.id AND page.crawl = 'Running' AND page.excluded IS NULL AND NOT page.fresh
                  AND p.status IN ('Queued', 'Waiting')
      RETURNING p.id)
    SELECT crawl, excluded, crawl = 'Running' AND excluded IS NULL AND open AND (fresh OR EXISTS (SELECT 1 FROM touched)) AS continues
    FROM page`;
  if (row?.continues) return { continues: true };
  if (row?.crawl === 'Paused' || row?.crawl === 'Stopped') {
    await returnToFrontier(
      db,
      pageId,
      row.crawl === 'Paused' ? 'the crawl is paused' : 'everything is stopped',
    );
    return { continues: false, crawlOver: false };
  }
  if (row?.crawl === 'Running' && row.excluded !== null) {
    await rejectExcluded(db, pageId, row.excluded);
    return { continues: false, crawlOver: false };
  }
  return { continues: false, crawlOver: row !== undefined && row.crawl !== 'Running' };
}

/**
 * A page of a crawl that is paused or stopped becomes Pending again, with its attempts, and returns its reservation in the budget. When the crawl
 * is resumed, it is admitted like any other.
 */
async function returnToFrontier(db: Database, pageId: string, reason: string): Promise<void> {
  await db.$executeRaw`
    WITH returned AS (
      UPDATE pages SET status = 'Pending', reason = ${reason}, next_attempt_at = NULL, admission_id = NULL,
                       updated_at = now()
      WHERE id = ${BigInt(pageId)} AND status IN ('Queued', 'Waiting')
      RETURNING crawl_id, kind)
    UPDATE crawls c SET pages_reserved = greatest(0, c.pages_reserved - 1)
    FROM returned WHERE c.id = returned.crawl_id AND c.max_pages IS NOT NULL AND returned.kind = 'page'`;
}

/** Excluded since it was admitted. */
async function rejectExcluded(db: Database, pageId: string, pattern: string): Promise<void> {
  await db.$executeRaw`
    WITH rejected AS (
      UPDATE pages SET ${rejectedFor(pattern)}
      WHERE id = ${BigInt(pageId)} AND status IN ('Queued', 'Waiting')
      RETURNING crawl_id)
    UPDATE crawls c SET pages_reserved = greatest(0, c.pages_reserved - 1)
    FROM rejected WHERE c.id = rejected.crawl_id AND c.max_pages IS NOT NULL`;
}
