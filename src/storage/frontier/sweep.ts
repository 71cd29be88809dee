/** What the Crawl workflow does now and then: let in what is due, find what stalled, notice the end. */

import { isOpen, type PageStatus } from '../../core/outcome.ts';
import type { AdmittedPage } from '../../core/page-input.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import type { Database } from '../database.ts';
import { ADMITTED_COLUMNS, type AdmittedRow, admit, FIRST_SIGN_MS, toAdmittedPage } from './admit.ts';
import { admitSitemaps } from './admit-sitemaps.ts';

/** Rows one sweep looks at closely; what is left comes with the next one. */
const MOST_AT_ONCE = 200;

/** After its workflow was seen running, a silent page is left alone this long. */
const SEEN_RUNNING_MS = 5 * 60_000;

export interface PageCounts {
  pages: Record<string, number>;
  found: number;
  /** What has no final status yet, sitemaps included; they are no pages otherwise. */
  open: number;
}

/** Lets in pages whose wait in the table is over, and pages for which there is room. */
export async function admitDue(
  db: Database,
  crawlId: string,
  settings: CrawlSettings,
  by: string,
): Promise<AdmittedPage[]> {
  await db.$executeRaw`
    UPDATE pages SET next_attempt_at = NULL WHERE id IN (
      SELECT id FROM pages WHERE crawl_id = ${crawlId} AND status = 'Pending' AND next_attempt_at <= now()
      ORDER BY next_attempt_at LIMIT ${MOST_AT_ONCE} FOR UPDATE SKIP LOCKED)`;
  if (settings.sitemaps) await admitSitemaps(db, { crawlId, by, domains: null });
  return admit(db, { crawlId, window: settings.window, warmup: settings.warmup, by, domains: null });
}

/** Pages from which a sign of life is overdue and whose workflow is gone: to be started again. */
export async function findStalled(
  db: Database,
  crawlId: string,
  isRunning: (page: AdmittedPage) => Promise<boolean>,
): Promise<AdmittedPage[]> {
  const overdue = await db.$queryRaw<AdmittedRow[]>`
    SELECT ${ADMITTED_COLUMNS} FROM pages
    WHERE crawl_id = ${crawlId} AND status IN ('Queued', 'Waiting') AND check_at <= now()
    ORDER BY check_at LIMIT ${MOST_AT_ONCE}`;
  const checked = await Promise.all(
    overdue.map(async (row) => ({ row, running: await isRunning(toAdmittedPage(row)) })),
  );
  const [running, gone] = [checked.filter((c) => c.running), checked.filter((c) => !c.running)];
  await lookAgainIn(
    db,
    running.map((c) => c.row.id),
    SEEN_RUNNING_MS,
  );
  await lookAgainIn(
    db,
    gone.map((c) => c.row.id),
    FIRST_SIGN_MS,
  );
  return gone.map((c) => toAdmittedPage(c.row));
}

/** Skips a row that somebody is writing: it is alive, and to wait for it could end in a deadlock. */
async function lookAgainIn(db: Database, ids: bigint[], ms: number): Promise<void> {
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

/** Nothing has a workflow any more; what is Pending may still be admitted. */
export async function nothingUnderWay(db: Database, crawlId: string): Promise<boolean> {
  const [row] = await db.$queryRaw<{ quiet: boolean }[]>`
    SELECT NOT EXISTS (SELECT 1 FROM pages WHERE crawl_id = ${crawlId} AND status = 'Queued')
       AND NOT EXISTS (SELECT 1 FROM pages WHERE crawl_id = ${crawlId} AND status = 'Waiting') AS quiet`;
  return row?.quiet ?? true;
}

/** The budget is spent and nothing is under way that could give some of it back: the rest will never be fetched. */
export async function cancelBeyondBudget(db: Database, crawlId: string): Promise<void> {
  await db.$executeRaw`
    UPDATE pages SET status = 'Cancelled', reason = 'budget: max-pages was reached', next_attempt_at = NULL, updated_at = now()
    WHERE crawl_id = ${crawlId} AND status = 'Pending'
      AND EXISTS (SELECT 1 FROM crawls WHERE id = ${crawlId} AND pages_reserved >= max_pages)
      AND NOT EXISTS (SELECT 1 FROM pages p WHERE p.crawl_id = ${crawlId} AND p.status IN ('Queued', 'Waiting'))`;
}
