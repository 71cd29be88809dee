/**
 * Defers a page. A long wait leaves the window, in the transaction that records it, so that a hundred pages that sleep until
 * their retry in an hour do not stop their domain.
 */
import type { CrawlSettings } from '../../core/settings.ts';
import type { Database } from '../database.ts';
import { FIRST_TOUCH_WITHIN_MS, refundPage } from '../frontier/admit.ts';
import type { Queries } from '../raw-sql.ts';
import { changed, isAdmitted, lockPage, type PageRow, type Recorded } from './page-row.ts';

export interface Deferral {
  until: number;
  reason: string;
  attempts: number;
}

type DeferredStatus = 'Queued' | 'Waiting' | 'Pending';

/**
 * Usually the page's workflow waits itself. If too many pages of its domain already do, the row becomes Pending again with
 * `next_attempt_at`, and the workflow ends.
 */
export async function deferPage(
  tx: Queries,
  settings: CrawlSettings,
  page: PageRow,
  wait: Deferral,
): Promise<DeferredStatus> {
  const status = await statusFor(tx, settings, page, wait);
  await tx.$executeRaw`
    UPDATE pages SET status = ${status}::page_status, reason = ${wait.reason}, attempts = ${wait.attempts}::int,
      next_attempt_at = ${new Date(wait.until)}, check_at = ${new Date(wait.until + FIRST_TOUCH_WITHIN_MS)}, updated_at = now()
    WHERE id = ${page.id}`;
  if (status === 'Pending') await refundPage(tx, page);
  return status;
}

/** A page that is Pending again has no workflow. */
export function deferred(page: PageRow, status: DeferredStatus): Recorded {
  return { continues: status !== 'Pending', domains: [page.domain], became: changed(page, status) };
}

async function statusFor(
  tx: Queries,
  settings: CrawlSettings,
  page: PageRow,
  wait: Deferral,
): Promise<DeferredStatus> {
  if (wait.until - Date.now() <= settings.longWaitMs) return 'Queued';
  const [asleep] = await tx.$queryRaw<{ full: boolean }[]>`
    SELECT count(*) >= ${settings.maxWaiting} AS full
    FROM (SELECT 1 FROM pages WHERE crawl_id = ${page.crawl_id} AND domain = ${page.domain} AND status = 'Waiting'
                                AND id <> ${page.id}
          LIMIT ${settings.maxWaiting}) AS waiting`;
  return asleep?.full ? 'Pending' : 'Waiting';
}

/** For a wait that does not count as an attempt, for example because robots.txt is unavailable. */
export async function deferWithoutAttempt(
  db: Database,
  settings: CrawlSettings,
  pageId: string,
  wait: { until: number; reason: string },
): Promise<Recorded> {
  return db.inTransaction(async (tx) => {
    const page = await lockPage(tx, pageId);
    if (page === null || !isAdmitted(page)) {
      return { continues: false, domains: page === null ? [] : [page.domain] };
    }
    return deferred(page, await deferPage(tx, settings, page, { ...wait, attempts: page.attempts }));
  });
}
