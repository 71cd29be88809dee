/**
 * The warm-up of a crawl: after its seeds it waits until enough pages are pending for their sources to mix. While it lasts,
 * admission lets in seeds alone. `crawls.warmed_up` says that it is over, so that it costs nothing from then on.
 */
import type { Warmup } from '../../core/settings.ts';
import type { Database } from '../database.ts';

/**
 * Ends the warm-up if enough pages are pending, or its time has passed, or no seed is on its way that could find more: a
 * crawl that will never have that many pages must not wait for them. Returns whether it has just ended.
 */
export async function endWarmup(db: Database, crawlId: string, warmup: Warmup): Promise<boolean> {
  const ended = await db.$executeRaw`
    UPDATE crawls SET warmed_up = true
    WHERE id = ${crawlId} AND NOT warmed_up
      AND (created_at <= now() - ${warmup.atMostMs} * interval '1 millisecond'
        OR ${warmup.pending} <= (SELECT count(*) FROM (SELECT 1 FROM pages WHERE crawl_id = ${crawlId} AND status = 'Pending'
                                                       AND kind = 'page' LIMIT ${warmup.pending}) AS pending)
        OR NOT EXISTS (SELECT 1 FROM pages WHERE crawl_id = ${crawlId}
                       AND (status = 'Queued' OR status = 'Pending' AND next_attempt_at IS NULL AND is_seed)))`;
  return ended > 0;
}
