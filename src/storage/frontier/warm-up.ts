/**
 * The warm-up of a crawl: after its seeds it waits until enough pages are pending for their sources to mix. Meanwhile only
 * seeds are admitted. `crawls.warmed_up` records that it is over, so that it costs nothing from then on.
 */
import type { Warmup } from '../../core/settings.ts';
import type { Database } from '../database.ts';

/**
 * Ends the warm-up if enough pages are pending, if its time has passed, or if no seed is in progress that could find more: a
 * crawl that will never have that many pages must not wait for them. Returns whether this call ended it.
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
