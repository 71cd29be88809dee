/** Crawls that have not ended: how long no page of them has ended, and how many could be fetched. */
import type { Database } from '../database.ts';
import type { CrawlStatus } from '../generated/enums.ts';

export interface OpenCrawl {
  id: string;
  status: CrawlStatus;
  open: number;
  /** Pages that are pending or in progress and wait for nothing but a slot. At most 10,000 deferred ones are left out. */
  due: number;
  /** When a page last ended, or the crawl began. */
  lastDoneAt: Date;
}

const MAX_CRAWLS = 100;
const MAX_DEFERRED = 10_000;

export async function readOpenCrawls(db: Database): Promise<OpenCrawl[]> {
  return db.$queryRaw<OpenCrawl[]>`
    SELECT crawl.id, crawl.status::text, counted.open, greatest(0, counted.ready - deferred.pages) AS due,
           greatest(crawl.created_at, counted.done_at) AS "lastDoneAt"
    FROM (SELECT * FROM crawls WHERE finished_at IS NULL ORDER BY created_at DESC LIMIT ${MAX_CRAWLS}) AS crawl
    CROSS JOIN LATERAL (
      SELECT coalesce(sum(pages) FILTER (WHERE status IN ('Pending', 'Queued', 'Waiting')), 0)::int AS open,
             coalesce(sum(pages) FILTER (WHERE status IN ('Pending', 'Queued')), 0)::int AS ready,
             max(at) FILTER (WHERE status NOT IN ('Pending', 'Queued', 'Waiting')) AS done_at
      FROM (SELECT status, pages, changed_at AS at FROM crawl_page_counts WHERE crawl_id = crawl.id
            UNION ALL
            SELECT status, pages, at FROM crawl_changes WHERE crawl_id = crawl.id AND status IS NOT NULL) AS counts
    ) AS counted
    CROSS JOIN LATERAL (
      SELECT count(*)::int AS pages FROM (
        SELECT 1 FROM pages WHERE crawl_id = crawl.id AND status = 'Pending' AND next_attempt_at IS NOT NULL
        LIMIT ${MAX_DEFERRED}) AS waiting
    ) AS deferred`;
}
