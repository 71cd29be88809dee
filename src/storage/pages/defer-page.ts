/**
 * A page that has to wait. A long wait gives up its place in the window, in the transaction that records it, so that a
 * hundred pages asleep in a one-hour retry do not stop their domain.
 */
import type { CrawlSettings } from '../../core/settings.ts';
import type { Database } from '../database.ts';
import { FIRST_SIGN_MS, refundPage } from '../frontier/admit.ts';
import type { Queries } from '../raw-sql.ts';
import { isUnderWay, lockPage, type PageRow, type Recorded } from './page-row.ts';

export interface Wait {
  until: number;
  reason: string;
  attempts: number;
}

/**
 * Returns whether the page's workflow may wait by itself. When too many of its domain do so already, the row goes back to
 * Pending with `next_attempt_at` and the workflow ends.
 */
export async function stepAside(
  tx: Queries,
  settings: CrawlSettings,
  page: PageRow,
  wait: Wait,
): Promise<boolean> {
  const status = await statusFor(tx, settings, page, wait);
  await tx.$executeRaw`
    UPDATE pages SET status = ${status}::page_status, reason = ${wait.reason}, attempts = ${wait.attempts}::int,
      next_attempt_at = ${new Date(wait.until)}, check_at = ${new Date(wait.until + FIRST_SIGN_MS)}, updated_at = now()
    WHERE id = ${page.id}`;
  if (status === 'Pending') await refundPage(tx, page);
  return status !== 'Pending';
}

async function statusFor(
  tx: Queries,
  settings: CrawlSettings,
  page: PageRow,
  wait: Wait,
): Promise<'Queued' | 'Waiting' | 'Pending'> {
  if (wait.until - Date.now() <= settings.longWaitMs) return 'Queued';
  const [asleep] = await tx.$queryRaw<{ full: boolean }[]>`
    SELECT count(*) >= ${settings.maxWaiting} AS full
    FROM (SELECT 1 FROM pages WHERE crawl_id = ${page.crawl_id} AND domain = ${page.domain} AND status = 'Waiting'
                                AND id <> ${page.id}
          LIMIT ${settings.maxWaiting}) AS waiting`;
  return asleep?.full ? 'Pending' : 'Waiting';
}

/** For a wait that is no attempt: robots.txt out of reach, for one. */
export async function recordWait(
  db: Database,
  settings: CrawlSettings,
  pageId: string,
  wait: { until: number; reason: string },
): Promise<Recorded> {
  return db.atomically(async (tx) => {
    const page = await lockPage(tx, pageId);
    if (page === null || !isUnderWay(page)) {
      return { goesOn: false, domains: page === null ? [] : [page.domain] };
    }
    const goesOn = await stepAside(tx, settings, page, { ...wait, attempts: page.attempts });
    return { goesOn, domains: [page.domain] };
  });
}
