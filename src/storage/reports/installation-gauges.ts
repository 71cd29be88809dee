/**
 * The state of a whole installation in a few numbers, for monitoring. They are read every few seconds, so none of them reads rows
 * whose number grows with the pages of a crawl.
 */
import type { CrawlStatus, OpenStatus } from '../../core/outcome.ts';
import type { Database } from '../database.ts';

export interface InstallationGauges {
  /** Crawls that have not ended. */
  crawls: Record<Extract<CrawlStatus, 'Running' | 'Paused' | 'Cancelling'>, number>;
  /** Pages without a final status, of all crawls. */
  frontier: Record<OpenStatus, number>;
  /** How long the page has been due that should have been admitted, retried or checked first. 0: none is. */
  oldestDueSeconds: number;
  domains: Record<'active' | 'cooling', number> & Record<Restriction, number>;
  databaseBytes: number;
}

type Restriction = 'backing_off' | 'retry_after' | 'down' | 'paused';

/** Domains whose gates are read. */
const MAX_DOMAINS = 10_000;
/** Queued pages that are read to find those domains. */
const MAX_QUEUED = 50_000;

export async function readInstallationGauges(db: Database): Promise<InstallationGauges> {
  // One after the other: monitoring must not take several connections from the dashboard.
  return {
    crawls: await countCrawls(db),
    frontier: await countFrontier(db),
    oldestDueSeconds: await readOldestDue(db),
    domains: { ...(await countActiveDomains(db)), ...(await countRestrictedDomains(db)) },
    databaseBytes: await readDatabaseBytes(db),
  };
}

async function countCrawls(db: Database): Promise<InstallationGauges['crawls']> {
  const rows = await db.$queryRaw<{ status: string; count: number }[]>`
    SELECT status::text, count(*)::int AS count FROM crawls
    WHERE status IN ('Running', 'Paused', 'Cancelling') GROUP BY status`;
  return {
    Running: 0,
    Paused: 0,
    Cancelling: 0,
    ...Object.fromEntries(rows.map((r) => [r.status, r.count])),
  };
}

async function countFrontier(db: Database): Promise<InstallationGauges['frontier']> {
  const rows = await db.$queryRaw<{ status: string; pages: number }[]>`
    SELECT status::text, sum(pages)::float8 AS pages
    FROM (SELECT status, pages FROM crawl_page_counts WHERE kind = 'page'
          UNION ALL
          SELECT status, pages FROM crawl_changes WHERE kind = 'page') AS counted
    WHERE status IN ('Pending', 'Queued', 'Waiting') GROUP BY status`;
  return { Pending: 0, Queued: 0, Waiting: 0, ...Object.fromEntries(rows.map((r) => [r.status, r.pages])) };
}

/**
 * A sweep admits deferred pages that are due, and checks pages with a workflow when their `check_at` has come. If that time is long
 * past, no sweep runs, or it cannot keep up.
 */
async function readOldestDue(db: Database): Promise<number> {
  const [row] = await db.$queryRaw<{ seconds: number | null }[]>`
    SELECT extract(epoch FROM now() - min(due.at))::float8 AS seconds
    FROM crawls CROSS JOIN LATERAL (
      (SELECT next_attempt_at AS at FROM pages
       WHERE crawl_id = crawls.id AND status = 'Pending' AND next_attempt_at IS NOT NULL ORDER BY next_attempt_at LIMIT 1)
      UNION ALL
      (SELECT check_at FROM pages
       WHERE crawl_id = crawls.id AND (status = 'Queued' OR status = 'Waiting') ORDER BY check_at LIMIT 1)
    ) due
    WHERE crawls.status = 'Running'`;
  return Math.max(0, row?.seconds ?? 0);
}

/** Domains with queued pages that are not paused, and those of them whose gap has not passed. */
async function countActiveDomains(db: Database): Promise<Record<'active' | 'cooling', number>> {
  const [row] = await db.$queryRaw<Array<Record<'active' | 'cooling', number>>>`
    SELECT count(*)::int AS active,
           count(*) FILTER (WHERE greatest((gate->>'delayUntil')::float8, (gate->>'lastStart')::float8 + min_gap_ms)
                                  > extract(epoch FROM now()) * 1000)::int AS cooling
    FROM (SELECT DISTINCT domain FROM (SELECT domain FROM pages WHERE status = 'Queued' LIMIT ${MAX_QUEUED}) pages
          LIMIT ${MAX_DOMAINS}) queued
    LEFT JOIN domains ON name = queued.domain
    WHERE paused IS NOT TRUE`;
  return row ?? { active: 0, cooling: 0 };
}

/** The condition is that of the index `domains_restricted`, which has these rows only. */
async function countRestrictedDomains(db: Database): Promise<Record<Restriction, number>> {
  const [row] = await db.$queryRaw<Array<Record<Restriction, number>>>`
    SELECT count(*) FILTER (WHERE backoff_ms > 0)::int AS backing_off,
           count(*) FILTER (WHERE blocked_until > now())::int AS retry_after,
           count(*) FILTER (WHERE outages <> '{}'::jsonb)::int AS down,
           count(*) FILTER (WHERE paused)::int AS paused
    FROM domains WHERE paused OR backoff_ms > 0 OR blocked_until IS NOT NULL OR outages <> '{}'::jsonb`;
  return row ?? { backing_off: 0, retry_after: 0, down: 0, paused: 0 };
}

async function readDatabaseBytes(db: Database): Promise<number> {
  const [row] = await db.$queryRaw<{ bytes: number }[]>`
    SELECT pg_database_size(current_database())::float8 AS bytes`;
  return row?.bytes ?? 0;
}
