/** How URLs enter a crawl: each once, however often and on whichever page it is found. */

import type { CrawlSettings, Order } from '../../core/settings.ts';
import { type PolitenessUnit, politenessKey, urlHash } from '../../urls/index.ts';
import { classifyUrl, type PageKind } from '../../urls/pattern.ts';
import type { UrlKind } from '../generated/enums.ts';
import type { Queries } from '../raw-sql.ts';

export interface NewPage extends PageKind {
  url: string;
  hash: Buffer;
  domain: string;
  /** From a sitemap. */
  lastmod?: Date | null;
}

/** A normalised URL as a page of its crawl. `carried`: the keyword of the page or seed that it comes from. */
export function newPage(
  { urlTypes }: Pick<CrawlSettings, 'urlTypes'>,
  unit: PolitenessUnit,
  url: string,
  carried: string | null,
  hash = urlHash(url),
): NewPage {
  return { url, hash, domain: politenessKey(url, unit), ...classifyUrl(urlTypes, url, carried) };
}

/**
 * Inserts the pages that a crawl does not have yet. Ids follow the order in which they were found, which is the order of
 * admission. Rows are inserted sorted by hash, so that two pages with the same links lock rows in the same order instead of
 * deadlocking. A known page uses up an id too; there are enough.
 */
export async function insertPages(
  tx: Queries,
  batch: {
    crawlId: string;
    order: Order;
    depth: number;
    redirectCount: number;
    isSeed: boolean;
    foundOnId: bigint | null;
    kind?: UrlKind;
    pages: readonly NewPage[];
  },
): Promise<void> {
  if (batch.pages.length === 0) return;
  const { pages } = batch;
  const domains = [...new Set(pages.map(({ domain }) => domain))].sort();
  await tx.$executeRaw`
    WITH met AS (
      INSERT INTO crawl_domains (crawl_id, domain)
      SELECT ${batch.crawlId}, domain FROM unnest(${domains}::text[]) AS domain
      ON CONFLICT DO NOTHING),
    found AS MATERIALIZED (
      SELECT unrepeated_id('pages_id_seq') AS id, url, decode(hash, 'hex') AS hash, domain, type, priority, keyword, lastmod
      FROM unnest(${pages.map((p) => p.url)}::text[], ${pages.map((p) => p.hash.toString('hex'))}::text[],
                  ${pages.map((p) => p.domain)}::text[], ${pages.map((p) => p.type)}::text[],
                  ${pages.map((p) => p.priority)}::int[], ${pages.map((p) => p.keyword)}::text[],
                  ${pages.map((p) => p.lastmod?.toISOString() ?? null)}::text[])
           AS page (url, hash, domain, type, priority, keyword, lastmod))
    INSERT INTO pages (id, crawl_id, url, url_hash, domain, type, priority, keyword, rank, depth, redirect_count, is_seed, found_on_id, kind,
                       lastmod)
    SELECT id, ${batch.crawlId}, url, hash, domain, type, priority, keyword,
           CASE WHEN ${batch.order === 'shuffled'} THEN floor(random() * 2147483648)::int ELSE 0 END,
           ${batch.depth}, ${batch.redirectCount}, ${batch.isSeed}, ${batch.foundOnId}::bigint,
           ${batch.kind ?? 'page'}::url_kind, lastmod::timestamptz
    FROM found ORDER BY hash, id
    ON CONFLICT (crawl_id, url_hash) DO NOTHING`;
}
