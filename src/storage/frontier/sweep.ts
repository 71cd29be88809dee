/** The periodic work of the Crawl workflow: admit pages that are due, find stalled pages, detect the end. */

import type { AdmittedPage } from '../../core/page-input.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import type { Database } from '../database.ts';
import type { Queries } from '../raw-sql.ts';
import {
  ADMITTED_COLUMNS,
  type Admission,
  type AdmittedRow,
  admit,
  FIRST_TOUCH_WITHIN_MS,
  MAX_ADMITTED,
  noPageAdmitted,
  toAdmittedPage,
} from './admit.ts';
import { admitSitemaps } from './admit-sitemaps.ts';

/** Rows that one sweep checks; the next one checks the rest. */
const MAX_ROWS = 200;

/** A page whose workflow was found running is not checked again for this long. */
const RECHECK_RUNNING_MS = 5 * 60_000;

/**
 * Ends the crawl if no page is open, and returns whether it has ended. Decided under the lock on its row that `retryBatch` takes: a
 * crawl that has ended has no open page.
 */
export async function endIfDone(db: Database, crawlId: string): Promise<boolean> {
  return db.inTransaction(async (tx) => {
    const [crawl] = await tx.$queryRaw<{ ended: boolean; cancelling: boolean }[]>`
      SELECT finished_at IS NOT NULL AS ended, status = 'Cancelling' AS cancelling
      FROM crawls WHERE id = ${crawlId} FOR NO KEY UPDATE`;
    if (crawl === undefined || crawl.ended) return true;
    // Its own steps end it.
    if (crawl.cancelling || (await hasOpenPages(tx, crawlId))) return false;
    await tx.$executeRaw`UPDATE crawls SET status = 'Completed', finished_at = now() WHERE id = ${crawlId}`;
    return true;
  });
}

/** Whether any URL, page or sitemap, has no final status yet. */
export async function hasOpenPages(db: Queries, crawlId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ open: boolean }[]>`
    SELECT EXISTS (SELECT 1 FROM pages WHERE crawl_id = ${crawlId} AND status = 'Pending')
        OR NOT ${noPageAdmitted(crawlId)} AS open`;
  return row?.open ?? false;
}

/** Admits deferred pages that are due, and other pages while there is room, at most `maxAdmitted` of them. */
export async function admitDue(
  db: Database,
  crawlId: string,
  settings: CrawlSettings,
  admissionId: string,
  { maxAdmitted = MAX_ADMITTED, first = [] }: Pick<Admission, 'maxAdmitted' | 'first'> = {},
): Promise<AdmittedPage[]> {
  await db.$executeRaw`
    UPDATE pages SET next_attempt_at = NULL WHERE id IN (
      SELECT id FROM pages WHERE crawl_id = ${crawlId} AND status = 'Pending' AND next_attempt_at <= now()
      ORDER BY next_attempt_at LIMIT ${MAX_ROWS} FOR UPDATE SKIP LOCKED)`;
  if (settings.sitemaps) await admitSitemaps(db, { crawlId, admissionId, domains: null });
  const { window, warmup } = settings;
  const { pages } = await admit(db, {
    crawlId,
    window,
    warmup,
    admissionId,
    domains: null,
    maxAdmitted,
    first,
  });
  return pages;
}

/** Pages that have not been touched in time and whose workflow is gone: they are to be started again. */
export async function findStalled(
  db: Database,
  crawlId: string,
  isRunning: (page: AdmittedPage) => Promise<boolean>,
): Promise<AdmittedPage[]> {
  const overdue = await db.$queryRaw<AdmittedRow[]>`
    SELECT ${ADMITTED_COLUMNS} FROM pages
    WHERE crawl_id = ${crawlId} AND status IN ('Queued', 'Waiting') AND check_at <= now()
    ORDER BY check_at LIMIT ${MAX_ROWS}`;
  const checked = await Promise.all(
    overdue.map(async (row) => ({ row, running: await isRunning(toAdmittedPage(row)) })),
  );
  const [running, gone] = [checked.filter((c) => c.running), checked.filter((c) => !c.running)];
  await scheduleCheck(
    db,
    running.map((c) => c.row.id),
    RECHECK_RUNNING_MS,
  );
  await scheduleCheck(
    db,
    gone.map((c) => c.row.id),
    FIRST_TOUCH_WITHIN_MS,
  );
  return gone.map((c) => toAdmittedPage(c.row));
}

/** Skips a row that is being written: its page is alive, and waiting for the row could end in a deadlock. */
async function scheduleCheck(db: Database, ids: bigint[], ms: number): Promise<void> {
  if (ids.length === 0) return;
  await db.$executeRaw`
    UPDATE pages SET check_at = now() + ${ms} * interval '1 millisecond' WHERE id IN (
      SELECT id FROM pages WHERE id = ANY(${ids}::bigint[]) AND status IN ('Queued', 'Waiting')
      FOR UPDATE SKIP LOCKED)`;
}

export async function hasNoAdmittedPages(db: Database, crawlId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ idle: boolean }[]>`SELECT ${noPageAdmitted(crawlId)} AS idle`;
  return row?.idle ?? true;
}

/** Whether another crawl has pages that are about to be fetched. */
export async function areOthersInProgress(db: Database, crawlId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ others: boolean }[]>`
    SELECT EXISTS (
      SELECT 1 FROM crawls c WHERE c.status = 'Running' AND c.id <> ${crawlId}
        AND EXISTS (SELECT 1 FROM pages WHERE crawl_id = c.id AND status = 'Queued')) AS others`;
  return row?.others ?? false;
}

/** Cancels pending pages if the budget is spent and no page in progress could return some of it. */
export async function cancelBeyondBudget(db: Database, crawlId: string): Promise<void> {
  await db.$executeRaw`
    UPDATE pages SET status = 'Cancelled', reason = 'budget: max-pages was reached', next_attempt_at = NULL, updated_at = now()
    WHERE crawl_id = ${crawlId} AND status = 'Pending'
      AND EXISTS (SELECT 1 FROM crawls WHERE id = ${crawlId} AND pages_reserved >= max_pages)
      AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.crawl_id = ${crawlId} AND p.status IN ('Queued', 'Waiting'))`;
}
