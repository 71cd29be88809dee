/** The periodic work of the Crawl workflow: admit pages that are due, find stalled pages, detect the end. */

import { isOpen, type PageStatus } from '../../core/outcome.ts';
import type { AdmittedPage } from '../../core/page-input.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import type { Database } from '../database.ts';
import {
  ADMITTED_COLUMNS,
  type AdmittedRow,
  admit,
  FIRST_TOUCH_WITHIN_MS,
  noPageAdmitted,
  toAdmittedPage,
} from './admit.ts';
import { admitSitemaps } from './admit-sitemaps.ts';

/** Rows that one sweep checks; the next one checks the rest. */
const MAX_ROWS = 200;

/** A page whose workflow was found running is not checked again for this long. */
const RECHECK_RUNNING_MS = 5 * 60_000;

export interface PageCounts {
  pages: Record<string, number>;
  found: number;
  /** URLs without a final status. Unlike the other counts, this includes sitemaps. */
  open: number;
}

/** Admits deferred pages that are due, and other pages while there is room. */
export async function admitDue(
  db: Database,
  crawlId: string,
  settings: CrawlSettings,
  admissionId: string,
): Promise<AdmittedPage[]> {
  await db.$executeRaw`
    UPDATE pages SET next_attempt_at = NULL WHERE id IN (
      SELECT id FROM pages WHERE crawl_id = ${crawlId} AND status = 'Pending' AND next_attempt_at <= now()
      ORDER BY next_attempt_at LIMIT ${MAX_ROWS} FOR UPDATE SKIP LOCKED)`;
  if (settings.sitemaps) await admitSitemaps(db, { crawlId, admissionId, domains: null });
  const { window, warmup } = settings;
  const { pages } = await admit(db, { crawlId, window, warmup, admissionId, domains: null });
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

export async function countPages(db: Database, crawlId: string): Promise<PageCounts> {
  const rows = await db.$queryRaw<{ kind: string; status: PageStatus; count: number }[]>`
    SELECT kind::text, status::text, count(*)::int AS count FROM pages WHERE crawl_id = ${crawlId} GROUP BY kind, status`;
  const pages = rows.filter(({ kind }) => kind === 'page');
  return {
    pages: Object.fromEntries(pages.map(({ status, count }) => [status, count])),
    found: sum(pages),
    open: sum(rows.filter(({ status }) => isOpen(status))),
  };
}

function sum(rows: readonly { count: number }[]): number {
  return rows.reduce((total, { count }) => total + count, 0);
}

export async function hasNoAdmittedPages(db: Database, crawlId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ idle: boolean }[]>`SELECT ${noPageAdmitted(crawlId)} AS idle`;
  return row?.idle ?? true;
}

/** Cancels pending pages if the budget is spent and no page in progress could return some of it. */
export async function cancelBeyondBudget(db: Database, crawlId: string): Promise<void> {
  await db.$executeRaw`
    UPDATE pages SET status = 'Cancelled', reason = 'budget: max-pages was reached', next_attempt_at = NULL, updated_at = now()
    WHERE crawl_id = ${crawlId} AND status = 'Pending'
      AND EXISTS (SELECT 1 FROM crawls WHERE id = ${crawlId} AND pages_reserved >= max_pages)
      AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.crawl_id = ${crawlId} AND p.status IN ('Queued', 'Waiting'))`;
}
