/** The counts of a crawl, exact at any time, from rows that do not grow with it: see ../counts.ts. */
import type { PageStatus } from '../../core/outcome.ts';
import type { SkipCounts } from '../../urls/index.ts';
import { DOMAIN_SUMS, linkChanges } from '../counts.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import type { UrlKind } from '../generated/enums.ts';

export interface PageCount {
  kind: UrlKind;
  status: PageStatus;
  pages: number;
  /** When a page last got or lost this status. */
  changedAt: Date;
}

export async function readPageCounts(db: Database, crawlId: string): Promise<PageCount[]> {
  return db.$queryRaw<PageCount[]>`
    SELECT kind::text, status::text, sum(pages)::int AS pages, max(at) AS "changedAt"
    FROM (SELECT kind, status, pages, changed_at AS at FROM crawl_page_counts WHERE crawl_id = ${crawlId}
          UNION ALL
          SELECT kind, status, pages, at FROM crawl_changes WHERE crawl_id = ${crawlId} AND status IS NOT NULL) AS counted
    GROUP BY kind, status HAVING sum(pages) <> 0`;
}

/** Of the crawl's pages, without sitemaps. */
export async function countPages(
  db: Database,
  crawlId: string,
): Promise<{ found: number; pages: Record<string, number> }> {
  const counts = (await readPageCounts(db, crawlId)).filter(({ kind }) => kind === 'page');
  return {
    found: counts.reduce((sum, { pages }) => sum + pages, 0),
    pages: Object.fromEntries(counts.map(({ status, pages }) => [status, pages])),
  };
}

/**
 * `domain`, `found`, `open`, `fetched` and `failed` of the domains that have the most of `column`, and of those that have changed
 * since they were counted.
 */
export function domainCounts(crawlId: string, column: Prisma.Sql, limit: number): Prisma.Sql {
  return Prisma.sql`
    WITH changes AS (
      SELECT domain, ${DOMAIN_SUMS} FROM crawl_changes WHERE crawl_id = ${crawlId} AND kind = 'page' GROUP BY domain),
    names AS (
      (SELECT domain FROM crawl_domain_counts WHERE crawl_id = ${crawlId} ORDER BY ${column} DESC LIMIT ${limit})
      UNION
      SELECT domain FROM changes)
    SELECT names.domain,
           coalesce(known.found, 0) + coalesce(changes.found, 0) AS found,
           coalesce(known.open, 0) + coalesce(changes.open, 0) AS open,
           coalesce(known.fetched, 0) + coalesce(changes.fetched, 0) AS fetched,
           coalesce(known.failed, 0) + coalesce(changes.failed, 0) AS failed
    FROM names
    -- LIMIT keeps the planner from reading the counts of all domains for a few of them.
    LEFT JOIN LATERAL (
      SELECT found, open, fetched, failed FROM crawl_domain_counts
      WHERE crawl_id = ${crawlId} AND domain = names.domain LIMIT 1) known ON true
    LEFT JOIN changes ON changes.domain = names.domain`;
}

export interface LinkCounts {
  /** On all pages and in all sitemaps. A link on two pages counts twice. */
  found: number;
  /** Those that did not become pages, by reason, the most frequent first. */
  skipped: SkipCounts;
}

export async function readLinkCounts(db: Database, crawlId: string): Promise<LinkCounts> {
  const changes = Prisma.sql`(SELECT * FROM crawl_changes WHERE crawl_id = ${crawlId}) AS changes`;
  const rows = await db.$queryRaw<{ reason: string; count: number }[]>`
    SELECT reason, sum(links)::float8 AS count
    FROM (SELECT reason, links FROM crawl_link_counts WHERE crawl_id = ${crawlId}
          UNION ALL ${linkChanges(changes)}) AS counted
    GROUP BY reason ORDER BY count DESC, reason`;
  const skipped = rows.filter(({ reason }) => reason !== '').map(({ reason, count }) => [reason, count]);
  return {
    found: rows.find(({ reason }) => reason === '')?.count ?? 0,
    skipped: Object.fromEntries(skipped),
  };
}

export interface CrawlSample {
  at: Date;
  found: number;
  done: number;
}

/** Samples of each crawl for a small picture. */
const MAX_LATEST = 30;

/** The latest samples of several crawls, in order of time. */
export async function readLatestSamples(
  db: Database,
  crawlIds: readonly string[],
): Promise<Map<string, CrawlSample[]>> {
  const rows = await db.$queryRaw<(CrawlSample & { crawl: string })[]>`
    SELECT wanted.id AS crawl, latest.at, latest.found, latest.done FROM unnest(${[...crawlIds]}::text[]) AS wanted (id)
    CROSS JOIN LATERAL (
      SELECT at, found, done FROM crawl_samples WHERE crawl_id = wanted.id ORDER BY crawl_id DESC, at DESC LIMIT ${MAX_LATEST}
    ) AS latest ORDER BY latest.at`;
  const samples = new Map<string, CrawlSample[]>(crawlIds.map((id) => [id, []]));
  for (const { crawl, ...sample } of rows) samples.get(crawl)?.push(sample);
  return samples;
}

/** In order of time. There are at most a few thousand. */
export async function readSamples(db: Database, crawlId: string): Promise<CrawlSample[]> {
  return db.$queryRaw<CrawlSample[]>`
    SELECT at, found, done FROM crawl_samples WHERE crawl_id = ${crawlId} ORDER BY at`;
}

/** The last sample until a time. null: there is none. */
export async function readSampleAt(db: Database, crawlId: string, until: Date): Promise<CrawlSample | null> {
  const [sample] = await db.$queryRaw<CrawlSample[]>`
    SELECT at, found, done FROM crawl_samples WHERE crawl_id = ${crawlId} AND at <= ${until}
    ORDER BY crawl_id DESC, at DESC LIMIT 1`;
  return sample ?? null;
}
