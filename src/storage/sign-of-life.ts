/** A page that is about to ask for a slot says that it lives, and hears whether it still has anything to do. */
import type { Database } from './database.ts';

export type Standing = { goesOn: true } | { goesOn: false; crawlOver: boolean };

/** `quietMs`: how long nothing may be heard of it before the sweep looks whether its workflow is still there. */
export async function signOfLife(db: Database, pageId: string, quietMs: number): Promise<Standing> {
  const [row] = await db.$queryRaw<{ crawl: string; touched: boolean }[]>`
    WITH touched AS (
      UPDATE pages p SET status = 'Queued', next_at = NULL, reason = NULL, updated_at = now(),
                         check_at = now() + ${quietMs} * interval '1 millisecond'
      FROM crawls c WHERE p.id = ${BigInt(pageId)} AND c.id = p.crawl_id AND c.status = 'Running'
                      AND p.status IN ('Queued', 'Waiting')
      RETURNING p.id)
    SELECT c.status::text AS crawl, EXISTS (SELECT 1 FROM touched) AS touched
    FROM pages p JOIN crawls c ON c.id = p.crawl_id WHERE p.id = ${BigInt(pageId)}`;
  if (row?.touched) return { goesOn: true };
  return { goesOn: false, crawlOver: row !== undefined && row.crawl !== 'Running' };
}
