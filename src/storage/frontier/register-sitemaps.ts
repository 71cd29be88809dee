/** How sitemaps enter a crawl: from the robots.txt of a seed's origin, from /sitemap.xml, and from a sitemap index. */
import type { CrawlSettings } from '../../core/settings.ts';
import { announcedSitemaps } from '../../sitemaps/index.ts';
import {
  countSkip,
  originOf,
  type PolitenessUnit,
  type SkipCounts,
  type SkipReason,
} from '../../urls/index.ts';
import type { Database } from '../database.ts';
import { isAdmitted, lockPage, type PageRow } from '../pages/page-row.ts';
import type { Queries } from '../raw-sql.ts';
import { withinHostBounds } from './host-bounds.ts';
import { insertPages, newPage } from './insert-pages.ts';

/** Sitemaps per crawl: as many as the protocol allows in one index. */
const MAX_SITEMAPS = 50_000;

export interface Announced {
  domains: string[];
  skipped: SkipCounts;
}

/**
 * Registers the sitemaps of a seed's origin, whose robots.txt has been read by the end of an attempt at the seed. Called before
 * that attempt is recorded, because a crawl with nothing open would end first. A robots.txt may name sitemaps on other
 * hosts; the protocol provides for that. Returns their domains, and how many were skipped.
 */
export async function registerAnnouncedSitemaps(
  db: Database,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  pageId: string,
): Promise<Announced> {
  const none = { domains: [], skipped: {} };
  // The crawl is limited to its seeds, and a sitemap lists only other pages.
  if (settings.maxDepth === 0) return none;
  const [seed] = await db.$queryRaw<{ url: string }[]>`
    SELECT url FROM pages WHERE id = ${BigInt(pageId)} AND is_seed`;
  if (seed === undefined) return none;
  const origin = originOf(seed.url);
  const [robots] = await db.$queryRaw<{ body: string | null }[]>`
    SELECT body FROM robots WHERE origin = ${origin} AND fetched_at IS NOT NULL`;
  if (robots === undefined) return none;
  return db.inTransaction(async (tx) => {
    const page = await lockPage(tx, pageId);
    if (page === null || !isAdmitted(page)) return none;
    const skipped: SkipCounts = {};
    const skip = (reason: SkipReason, sitemaps = 1): void => countSkip(skipped, reason, sitemaps);
    const announced = announcedSitemaps(robots.body, origin);
    if (announced.skipped > 0) skip('too many other hosts of sitemaps', announced.skipped);
    return { domains: await registerSitemaps(tx, settings, unit, page, announced.urls, 0, skip), skipped };
  });
}

/** `depth`: the number of indexes above them. Returns the domains of those within the crawl's limit. */
export async function registerSitemaps(
  tx: Queries,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  page: PageRow,
  urls: readonly string[],
  depth: number,
  skip: (reason: SkipReason, urls?: number) => void,
): Promise<string[]> {
  if (urls.length === 0) return [];
  const [{ known } = { known: 0 }] = await tx.$queryRaw<{ known: number }[]>`
    SELECT count(*)::int AS known FROM pages WHERE crawl_id = ${page.crawl_id} AND kind = 'sitemap'`;
  const listed = urls
    .slice(0, Math.max(0, MAX_SITEMAPS - known))
    .map((url) => newPage({ urlTypes: [] }, unit, url, page.keyword));
  if (listed.length < urls.length) skip('too many sitemaps', urls.length - listed.length);
  const pages = await withinHostBounds(tx, settings, {
    crawlId: page.crawl_id,
    foundOn: page.url,
    pages: listed,
    skip,
  });
  await insertPages(tx, {
    crawlId: page.crawl_id,
    order: 'first-come',
    depth,
    redirectCount: 0,
    isSeed: false,
    foundOnId: page.id,
    kind: 'sitemap',
    pages,
  });
  await turnIntoSitemaps(
    tx,
    page.crawl_id,
    pages.map(({ hash }) => hash),
  );
  return [...new Set(pages.map(({ domain }) => domain))];
}

/** A link may have been found first. Fetched as a page it would be rejected, because sitemaps are not kept as content. */
async function turnIntoSitemaps(tx: Queries, crawlId: string, hashes: readonly Buffer[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE pages SET kind = 'sitemap', depth = 0 WHERE id IN (
      SELECT id FROM pages
      WHERE crawl_id = ${crawlId} AND url_hash IN (SELECT decode(hash, 'hex') FROM unnest(${hashes.map((hash) => hash.toString('hex'))}::text[]) AS hash)
        AND kind = 'page' AND status = 'Pending' AND NOT is_seed
      FOR UPDATE SKIP LOCKED)`;
}
