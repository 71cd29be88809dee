/** Counts for pages that were written without the triggers: the same rows that they would have written, in one statement. */
import type { Database } from '../src/storage/database.ts';

/** Runs `fill` without triggers, which is twice as quick, and then writes the changes of all pages and attempts. */
export async function throughTriggers(db: Database, fill: () => Promise<void>): Promise<void> {
  await db.$executeRaw`ALTER TABLE pages DISABLE TRIGGER USER`;
  await db.$executeRaw`ALTER TABLE page_crawls DISABLE TRIGGER USER`;
  await fill();
  await db.$executeRaw`
    INSERT INTO crawl_changes (crawl_id, domain, kind, status, error_kind, status_code, pages, links_found, links_skipped)
    SELECT crawl_id, domain, kind, status, error_kind, status_code, count(*), sum(links_found),
           jsonb_agg(links_skipped) FILTER (WHERE links_skipped IS NOT NULL)
    FROM pages GROUP BY crawl_id, domain, kind, status, error_kind, status_code`;
  await db.$executeRaw`
    INSERT INTO crawl_changes (crawl_id, outcome, attempts)
    SELECT page.crawl_id, attempt.outcome, count(*) FROM page_crawls attempt JOIN pages page ON page.id = attempt.page_id
    GROUP BY page.crawl_id, attempt.outcome`;
  await db.$executeRaw`ALTER TABLE pages ENABLE TRIGGER USER`;
  await db.$executeRaw`ALTER TABLE page_crawls ENABLE TRIGGER USER`;
}
