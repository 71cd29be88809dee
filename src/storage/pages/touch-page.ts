/** A page that is about to ask for a slot says that it lives, and hears whether it still has anything to do. */
import type { Database } from '../database.ts';

export type Standing = { goesOn: true } | { goesOn: false; crawlOver: boolean };

/** `quietMs`: how long nothing may be heard of it before the sweep looks whether its workflow is still there. */
export async function signOfLife(db: Database, pageId: string, quietMs: number): Promise<Standing> {
  const [row] = await db.$queryRaw<{ crawl: string; touched: boolean }[]>`
    WITH touched AS (
      UPDATE pages p SET status = 'Queued', next_attempt_at = NULL, reason = NULL, updated_at = now(),
                         check_at = now() + ${quietMs} * interval '1 millisecond'
      FROM crawls c WHERE p.id = ${BigInt(pageId)} AND c.id = p.crawl_id AND c.status = 'Running'
                      AND p.status IN ('Queued', 'Waiting')
      RETURNING p.id)
    SELECT c.status::text AS crawl, EXISTS (SELECT 1 FROM touched) AS touched
    FROM pages p JOIN crawls c ON c.id = p.crawl_id WHERE p.id = ${BigInt(pageId)}`;
  if (row?.touched) return { goesOn: true };
  if (row?.crawl === 'Paused') {
    await backToTheTable(db, pageId);
    return { goesOn: false, crawlOver: false };
  }
  return { goesOn: false, crawlOver: row !== undefined && row.crawl !== 'Running' };
}

/**
 * A paused crawl has no workflows to look after: its page goes back to where it was admitted from, with its attempts, and
 * what it held of the budget. Resumed, the crawl admits it as any other.
 */
async function backToTheTable(db: Database, pageId: string): Promise<void> {
  await db.$executeRaw`
    WITH aside AS (
      UPDATE pages SET status = 'Pending', reason = 'the crawl is paused', next_attempt_at = NULL, admission_id = NULL,
                       updated_at = now()
      WHERE id = ${BigInt(pageId)} AND status IN ('Queued', 'Waiting')
      RETURNING crawl_id, kind)
    UPDATE crawls c SET pages_reserved = greatest(0, c.pages_reserved - 1)
    FROM aside WHERE c.id = aside.crawl_id AND c.max_pages IS NOT NULL AND aside.kind = 'page'`;
}
