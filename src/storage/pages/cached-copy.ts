/** What this installation holds of a URL from any crawl before: what a server can be asked to confirm instead of resending. */
import { urlHash } from '../../urls/index.ts';
import type { Database } from '../database.ts';

export interface EarlierCopy {
  contentHash: string;
  /** As it was stored, with its charset. */
  contentType: string;
  /** Without parameters. */
  type: string;
  bytes: number;
  etag: string | null;
  lastModified: string | null;
  noindex: boolean;
  nofollow: boolean;
}

export async function findEarlierCopy(db: Database, url: string): Promise<EarlierCopy | null> {
  const rows = await db.$queryRaw<Omit<EarlierCopy, 'type'>[]>`
    SELECT content_hash AS "contentHash", coalesce(content_type, '') AS "contentType", coalesce(content_bytes, 0) AS bytes,
           etag, last_modified AS "lastModified", noindex, nofollow
    FROM pages
    WHERE url_hash = ${urlHash(url)} AND (etag IS NOT NULL OR last_modified IS NOT NULL) AND content_hash IS NOT NULL
    ORDER BY fetched_at DESC NULLS LAST
    LIMIT 1`;
  const [copy] = rows;
  return copy === undefined ? null : { ...copy, type: copy.contentType.split(';', 1)[0] ?? '' };
}
