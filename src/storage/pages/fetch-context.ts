/** What a fetch has to know before it begins, in one statement. */
import { originOf, urlHash } from '../../urls/index.ts';
import type { CrawlRecord } from '../crawls.ts';
import type { Database } from '../database.ts';
import { excludedBy } from '../excluded-by.ts';
import { GATE_COLUMNS, type GateColumns, type GateRow, toGateRow } from '../gate.ts';
import { Prisma } from '../generated/client.ts';
import { type RobotsReader, type RobotsRow, robotsColumns } from '../robots.ts';
import { statusForPages } from '../stop.ts';

export interface FetchContext {
  /** `Stopped`: everything is. */
  crawlStatus: CrawlRecord['status'] | 'unknown' | 'Stopped';
  /** The page has not ended. */
  isOpen: boolean;
  /** The pattern by which an operator has excluded the URL since the crawl began. null: none. */
  excludedBy: string | null;
  /** null: the origin of the URL has none yet. */
  robots: RobotsRow | null;
  copy: CachedCopy | null;
  /** The gate of the domain that granted the lease. null: the domain is not on record. */
  gate: GateRow | null;
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
  crawl_status: FetchContext['crawlStatus'];
  is_open: boolean;
  excluded_by: string | null;
  /** null: there is no row of `robots`. */
  origin: string | null;
  copy: Omit<CachedCopy, 'type'> | null;
  gate: GateColumns | null;
}

export async function readFetchContext(
  db: Database,
  { crawlId, pageId, url, reader }: { crawlId: string; pageId: string; url: string; reader: RobotsReader },
): Promise<FetchContext> {
  const [row] = await db.$queryRaw<ContextRow[]>`
    SELECT ${statusForPages(Prisma.sql`crawl.status`)} AS crawl_status,
           EXISTS (SELECT 1 FROM pages WHERE id = ${BigInt(pageId)} AND status IN ('Queued', 'Waiting')) AS is_open,
           ${excludedBy(Prisma.sql`${url}::text`, Prisma.sql`crawl.excluded`)} AS excluded_by, robots.origin, ${robotsColumns(reader)}, to_jsonb(copy) AS copy, to_jsonb(gate_row) AS gate
    FROM crawls crawl
    LEFT JOIN robots ON robots.origin = ${originOf(url)}
    LEFT JOIN (
      SELECT content_hash AS "contentHash", coalesce(content_type, '') AS "contentType", coalesce(content_bytes, 0) AS bytes,
             etag, last_modified AS "lastModified", noindex, nofollow
      FROM pages
      WHERE url_hash = ${urlHash(url)} AND (etag IS NOT NULL OR last_modified IS NOT NULL) AND content_hash IS NOT NULL
      ORDER BY fetched_at DESC NULLS LAST
      LIMIT 1) AS copy ON true
    LEFT JOIN (SELECT ${GATE_COLUMNS} FROM domains WHERE name = ${reader.domain}) AS gate_row ON true
    WHERE crawl.id = ${crawlId}`;
  if (row === undefined)
    return { crawlStatus: 'unknown', isOpen: false, excludedBy: null, robots: null, copy: null, gate: null };
  const { crawl_status: crawlStatus, is_open: isOpen, excluded_by, origin, copy, gate, ...robots } = row;
  return {
    crawlStatus,
    isOpen,
    excludedBy: excluded_by,
    robots: origin === null ? null : robots,
    copy: copy && { ...copy, type: copy.contentType.split(';', 1)[0] ?? '' },
    gate: gate && toGateRow(gate),
  };
}
