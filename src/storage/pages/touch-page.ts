/** A page touches its row before it asks for a slot, and learns whether it still has work to do. */
import type { Database } from '../database.ts';

export type Touched = { continues: true } | { continues: false; crawlOver: boolean };

/** `quietMs`: after this time without another touch, the sweep checks whether its workflow is still running. */
export async function touchPage(db: Database, pageId: string, quietMs: number): Promise<Touched> {
  const [row] = await db.$queryRaw<{ crawl: string; touched: boolean }[]>`
    WITH touched AS (
      UPDATE pages p SET status = 'Queued', next_attempt_at = NULL, reason = NULL, updated_at = now(),
                         check_at = now() + ${quietMs} * interval '1 millisecond'
      FROM crawls c WHERE p.id = ${BigInt(pageId)} AND c.id = p.crawl_id AND c.status = 'Running'
                      AND p.status IN ('Queued', 'Waiting')
      RETURNING p.id)
    SELECT c.status::text AS crawl, EXISTS (SELECT 1 FROM touched) AS touched
    FROM pages p JOIN crawls c ON c.id = p.crawl_id WHERE p.id = ${BigInt(pageId)}`;
  if (row?.touched) return { continues: true };
  if (row?.crawl === 'Paused') {
    await returnToFrontier(db, pageId);
    return { continues: false, crawlOver: false };
  }
  return { continues: false, crawlOver: row !== undefined && row.crawl !== 'Running' };
}

/**
 * A page of a paused crawl becomes Pending again, with its attempts, and returns its reservation in the budget. When the crawl
 * is resumed, it is admitted like any other.
 */
async function returnToFrontier(db: Database, pageId: string): Promise<void> {
  await db.$executeRaw`
    WITH returned AS (
      UPDATE pages SET status = 'Pending', reason = 'the crawl is paused', next_attempt_at = NULL, admission_id = NULL,
                       updated_at = now()
      WHERE id = ${BigInt(pageId)} AND status IN ('Queued', 'Waiting')
      RETURNING crawl_id, kind)
    UPDATE crawls c SET pages_reserved = greatest(0, c.pages_reserved - 1)
    FROM returned WHERE c.id = returned.crawl_id AND c.max_pages IS NOT NULL AND returned.kind = 'page'`;
}
