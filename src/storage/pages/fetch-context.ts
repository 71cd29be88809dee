/** What a fetch has to know before it begins, in one statement. */
import { originOf, urlHash } from '../../urls/index.ts';
import type { CrawlRecord } from '../crawls.ts';
import type { Database } from '../database.ts';
import { type RobotsReader, type RobotsRow, robotsColumns } from '../robots.ts';

export interface FetchContext {
  crawlStatus: CrawlRecord['status'] | 'unknown';
  /** null: the origin of the URL has none yet. */
  robots: RobotsRow | null;
  copy: CachedCopy | null;
}

/** The copy of a URL that an earlier crawl stored: a server can confirm it (304) instead of sending it again. */
export interface CachedCopy {
  contentHash: string;
  /** As stored, with its charset. */
  contentType: string;
  /** Without parameters. */
  type: string;
  bytes: number;
  etag: string | null;
  lastModified: string | null;
  noindex: boolean;
  nofollow: boolean;
}

interface ContextRow extends RobotsRow {
  crawl_status: CrawlRecord['status'];
  /** null: there is no row of `robots`. */
  origin: string | null;
  copy: Omit<CachedCopy, 'type'> | null;
}

export async function readFetchContext(
  db: Database,
  { crawlId, url, reader }: { crawlId: string; url: string; reader: RobotsReader },
): Promise<FetchContext> {
  const [row] = await db.$queryRaw<ContextRow[]>`
    SELECT crawl.status::text AS crawl_status, robots.origin, ${robotsColumns(reader)}, to_jsonb(copy) AS copy
    FROM crawls crawl
    LEFT JOIN robots ON robots.origin = ${originOf(url)}
    LEFT JOIN (
      SELECT content_hash AS "contentHash", coalesce(content_type, '') AS "contentType", coalesce(content_bytes, 0) AS bytes,
             etag, last_modified AS "lastModified", noindex, nofollow
      FROM pages
      WHERE url_hash = ${urlHash(url)} AND (etag IS NOT NULL OR last_modified IS NOT NULL) AND content_hash IS NOT NULL
      ORDER BY fetched_at DESC NULLS LAST
      LIMIT 1) AS copy ON true
    WHERE crawl.id = ${crawlId}`;
  if (row === undefined) return { crawlStatus: 'unknown', robots: null, copy: null };
  const { crawl_status: crawlStatus, origin, copy, ...robots } = row;
  return {
    crawlStatus,
    robots: origin === null ? null : robots,
    copy: copy && { ...copy, type: copy.contentType.split(';', 1)[0] ?? '' },
  };
}
