/** Failed pages that an operator wants to be tried again: they return to the frontier with their history. */
import type { OperatorOrder } from '../../core/order.ts';
import { FINAL_STATUSES, isOpen, OPEN_STATUSES, type PageStatus } from '../../core/outcome.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import { insertOrder } from '../orders.ts';

/** Which failed pages. What is unset does not matter; null means that none is on record. */
export interface RetrySelection {
  errorKind?: string | null;
  statusCode?: number | null;
  domain?: string;
}

export interface RetryPreview {
  pages: number;
  samples: { url: string; reason: string | null }[];
}

const MAX_SAMPLES = 20;

/** So few that the crawl's row is locked for a moment only. */
const BATCH = 1_000;

function selected(crawlId: string, { errorKind, statusCode, domain }: RetrySelection): Prisma.Sql {
  const equals = (column: Prisma.Sql, value: string | number | null | undefined): Prisma.Sql => {
    if (value === undefined) return Prisma.empty;
    return value === null ? Prisma.sql`AND ${column} IS NULL` : Prisma.sql`AND ${column} = ${value}`;
  };
  return Prisma.sql`
    crawl_id = ${crawlId} AND status = 'Failed' AND kind = 'page' ${equals(Prisma.sql`error_kind`, errorKind)}
    ${equals(Prisma.sql`status_code`, statusCode)} ${equals(Prisma.sql`domain`, domain)}`;
}

/** Reads the counts by cause, not the pages. */
export async function previewRetry(
  db: Database,
  crawlId: string,
  selection: RetrySelection,
): Promise<RetryPreview> {
  const [counted] = await db.$queryRaw<{ pages: number }[]>`
    SELECT coalesce(sum(pages), 0)::int AS pages FROM (
      SELECT crawl_id, status, 'page'::url_kind AS kind, nullif(error_kind, '') AS error_kind, nullif(status_code, 0) AS status_code,
             domain, pages FROM crawl_causes WHERE crawl_id = ${crawlId}
      UNION ALL
      SELECT crawl_id, status, kind, error_kind, status_code, domain, pages FROM crawl_changes WHERE crawl_id = ${crawlId}
    ) AS counted WHERE ${selected(crawlId, selection)}`;
  const samples = await db.$queryRaw<RetryPreview['samples']>`
    SELECT url, reason FROM pages WHERE ${selected(crawlId, selection)}
    ORDER BY error_kind, status_code, domain, id LIMIT ${MAX_SAMPLES}`;
  return { pages: counted?.pages ?? 0, samples };
}

export type RetryBatch =
  /** `total`: pages queued again by this order so far. */
  { kind: 'queued'; pages: number; total: number } | { kind: 'unknown-crawl' | 'cancelling' | 'budget-used' };

/**
 * Queues some of the pages again, and opens the crawl again if it has ended. To be called until there are no more. A page that
 * has failed once more meanwhile is left alone.
 */
export async function retryBatch(
  db: Database,
  crawlId: string,
  order: OperatorOrder,
  selection: RetrySelection,
  queuedBefore: number,
): Promise<RetryBatch> {
  return db.inTransaction(async (tx) => {
    const [crawl] = await tx.$queryRaw<{ status: string; budget_used: boolean }[]>`
      SELECT status::text, coalesce(pages_reserved >= max_pages, false) AS budget_used FROM crawls WHERE id = ${crawlId}
      FOR NO KEY UPDATE`;
    if (crawl === undefined) return { kind: 'unknown-crawl' };
    if (crawl.status === 'Cancelling') return { kind: 'cancelling' };
    if (crawl.budget_used) return { kind: 'budget-used' };
    const pages = await tx.$executeRaw`
      UPDATE pages SET status = 'Pending', attempts_before = attempts, retry_id = ${order.id}, reason = NULL, status_code = NULL,
                       error_kind = NULL, failed_at = NULL, next_attempt_at = NULL, admission_id = NULL, updated_at = now()
      WHERE id = ANY(ARRAY(
        SELECT id FROM pages WHERE ${selected(crawlId, selection)} AND retry_id IS DISTINCT FROM ${order.id}
        ORDER BY error_kind, status_code, domain, id LIMIT ${BATCH} FOR UPDATE))`;
    const total = queuedBefore + pages;
    if (pages === 0) return { kind: 'queued', pages, total };
    await tx.$executeRaw`
      UPDATE crawls SET status = 'Running', reason = NULL, finished_at = NULL WHERE id = ${crawlId} AND finished_at IS NOT NULL`;
    const effect = `${total} failed ${total === 1 ? 'page' : 'pages'} queued again${describe(selection)}`;
    await tx.$executeRaw(insertOrder(order, { crawlId, domain: null }, Prisma.sql`${effect}`));
    await tx.$executeRaw`UPDATE orders SET effect = ${effect} WHERE id = ${order.id}`;
    return { kind: 'queued', pages, total };
  });
}

function describe({ errorKind, statusCode, domain }: RetrySelection): string {
  const parts = [
    ...(errorKind === undefined ? [] : [errorKind ?? 'no kind of error']),
    ...(statusCode === undefined ? [] : [statusCode ?? 'no response']),
    ...(domain === undefined ? [] : [domain]),
  ];
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

export interface RetryProgress {
  /** Those that no later order has retried again. */
  pages: number;
  done: number;
  byStatus: Partial<Record<PageStatus, number>>;
  /** There are too many to be counted each time somebody looks: the counts are lower bounds. */
  atLeast: boolean;
}

/** Of each status. */
const MAX_COUNTED = 10_000;

export async function readRetryProgress(db: Database, retryId: string): Promise<RetryProgress> {
  const counted = await db.$queryRaw<{ status: PageStatus; pages: number }[]>`
    SELECT wanted.status, counted.pages FROM unnest(${[...OPEN_STATUSES, ...FINAL_STATUSES]}::text[]) AS wanted (status)
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS pages FROM (
        SELECT 1 FROM pages WHERE retry_id = ${retryId} AND status = wanted.status::page_status LIMIT ${MAX_COUNTED}) AS page
    ) AS counted`;
  const rows = counted.filter(({ pages }) => pages > 0);
  const sum = (some: typeof rows) => some.reduce((total, { pages }) => total + pages, 0);
  return {
    pages: sum(rows),
    done: sum(rows.filter(({ status }) => !isOpen(status))),
    byStatus: Object.fromEntries(rows.map(({ status, pages }) => [status, pages])),
    atLeast: rows.some(({ pages }) => pages >= MAX_COUNTED),
  };
}
