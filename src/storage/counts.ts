/**
 * How many pages, attempts and links a crawl has, without reading them. Triggers (prisma/migrations) record each change as a row of
 * its own in `crawl_changes`, so that pages that are recorded at the same time do not wait for one row of counts. The sweep adds
 * these rows up in the tables of counts and deletes them. A reader adds up both in one statement and gets exact numbers.
 */
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import type { Queries } from './raw-sql.ts';

/** Brings the counts of a crawl up to date. If another process is doing it, that one does all of it. */
export async function foldChanges(db: Database, crawlId: string): Promise<void> {
  await db.inTransaction(async (tx) => {
    const [lock] = await tx.$queryRaw<{ got: boolean }[]>`
      SELECT pg_try_advisory_xact_lock(hashtextextended(${crawlId}, 0)) AS got`;
    if (!lock?.got) return;
    await tx.$executeRaw(fold(crawlId));
    await addSample(tx, crawlId);
  });
}

/** The parts write different tables, and no other transaction writes them, so their order does not matter. */
function fold(crawlId: string): Prisma.Sql {
  return Prisma.sql`
    WITH folded AS (DELETE FROM crawl_changes WHERE crawl_id = ${crawlId} RETURNING *),
    page_counts AS (
      INSERT INTO crawl_page_counts AS known (crawl_id, kind, status, pages, changed_at)
      SELECT crawl_id, kind, status, sum(pages), max(at) FROM folded WHERE status IS NOT NULL GROUP BY crawl_id, kind, status
      ON CONFLICT (crawl_id, kind, status) DO UPDATE SET pages = known.pages + excluded.pages, changed_at = excluded.changed_at),
    domain_counts AS (
      INSERT INTO crawl_domain_counts AS known (crawl_id, domain, found, open, fetched, failed)
      SELECT crawl_id, domain, ${DOMAIN_SUMS} FROM folded WHERE kind = 'page' GROUP BY crawl_id, domain
      ON CONFLICT (crawl_id, domain) DO UPDATE SET found = known.found + excluded.found, open = known.open + excluded.open,
        fetched = known.fetched + excluded.fetched, failed = known.failed + excluded.failed),
    causes AS (
      INSERT INTO crawl_causes AS known (crawl_id, domain, status, error_kind, status_code, pages, first_at, last_at)
      SELECT crawl_id, domain, status, coalesce(error_kind, ''), coalesce(status_code, 0), sum(pages), min(at), max(at)
      FROM folded WHERE kind = 'page' AND status IN ('Failed', 'Rejected', 'Blocked') GROUP BY 1, 2, 3, 4, 5
      ON CONFLICT (crawl_id, domain, status, error_kind, status_code)
      DO UPDATE SET pages = known.pages + excluded.pages, last_at = excluded.last_at),
    attempt_counts AS (
      INSERT INTO crawl_attempt_counts AS known (crawl_id, outcome, attempts)
      SELECT crawl_id, outcome, sum(attempts) FROM folded WHERE outcome IS NOT NULL GROUP BY crawl_id, outcome
      ON CONFLICT (crawl_id, outcome) DO UPDATE SET attempts = known.attempts + excluded.attempts)
    INSERT INTO crawl_link_counts AS known (crawl_id, reason, links)
    SELECT ${crawlId}, reason, sum(links) FROM (${linkChanges(Prisma.sql`folded`)}) AS counted GROUP BY reason
    ON CONFLICT (crawl_id, reason) DO UPDATE SET links = known.links + excluded.links`;
}

/** `found`, `open`, `fetched` and `failed` of a group of changes of pages. */
export const DOMAIN_SUMS = Prisma.sql`
  coalesce(sum(pages), 0)::int AS found,
  coalesce(sum(pages) FILTER (WHERE status IN ('Pending', 'Queued', 'Waiting')), 0)::int AS open,
  coalesce(sum(pages) FILTER (WHERE status = 'Fetched'), 0)::int AS fetched,
  coalesce(sum(pages) FILTER (WHERE status = 'Failed'), 0)::int AS failed`;

/** `reason` and `links` of changes: '' stands for all links that were found. */
export function linkChanges(changes: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    SELECT '' AS reason, links_found::bigint AS links FROM ${changes} WHERE links_found <> 0
    UNION ALL
    SELECT skipped.key, skipped.value::bigint
    FROM ${changes}, jsonb_array_elements(links_skipped) AS page, jsonb_each_text(page) AS skipped
    WHERE links_skipped IS NOT NULL`;
}

/** Samples are at least this far apart. */
const MIN_INTERVAL_S = 10;

/**
 * Later samples are further apart, by this part of the crawl's age: a picture of the whole crawl shows no more. So a crawl of a
 * day has about 1,000 samples, and one of a year 2,200.
 */
const INTERVAL_OF_AGE = 1 / 200;

async function addSample(tx: Queries, crawlId: string): Promise<void> {
  await tx.$executeRaw`
    INSERT INTO crawl_samples (crawl_id, at, found, done)
    SELECT crawl.id, now(), counted.found, counted.done
    FROM crawls crawl CROSS JOIN LATERAL (
      SELECT coalesce(sum(pages), 0) AS found,
             coalesce(sum(pages) FILTER (WHERE status NOT IN ('Pending', 'Queued', 'Waiting')), 0) AS done
      FROM crawl_page_counts WHERE crawl_id = crawl.id AND kind = 'page') AS counted
    WHERE crawl.id = ${crawlId}
      AND coalesce((SELECT max(at) FROM crawl_samples WHERE crawl_id = crawl.id), '-infinity')
          <= now() - greatest(${MIN_INTERVAL_S} * interval '1 second', (now() - crawl.created_at) * ${INTERVAL_OF_AGE}::float8)
    ON CONFLICT DO NOTHING`;
}
