/** The copy of a URL that an earlier crawl stored: a server can confirm it (304) instead of sending it again. */
import { urlHash } from '../../urls/index.ts';
import type { Database } from '../database.ts';

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

export async function findCachedCopy(db: Database, url: string): Promise<CachedCopy | null> {
  const rows = await db.$queryRaw<Omit<CachedCopy, 'type'>[]>`
    SELECT content_hash AS "contentHash", coalesce(content_type, '') AS "contentType", coalesce(content_bytes, 0) AS bytes,
           etag, last_modified AS "lastModified", noindex, nofollow
    FROM pages
    WHERE url_hash = ${urlHash(url)} AND (etag IS NOT NULL OR last_modified IS NOT NULL) AND content_hash IS NOT NULL
    ORDER BY fetched_at DESC NULLS LAST
    LIMIT 1`;
  const [copy] = rows;
  return copy === undefined ? null : { ...copy, type: copy.contentType.split(';', 1)[0] ?? '' };
}
