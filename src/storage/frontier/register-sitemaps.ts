/** How sitemaps enter a crawl: from the robots.txt of a seed's origin, from the usual place, and from an index. */
import type { CrawlSettings } from '../../core/settings.ts';
import { announcedSitemaps } from '../../sitemaps/index.ts';
import { originOf, type PolitenessUnit, type SkipReason } from '../../urls/index.ts';
import type { Database } from '../database.ts';
import { isUnderWay, lockPage, type PageRow } from '../pages/page-row.ts';
import type { Queries } from '../raw-sql.ts';
import { insertPages, newPage } from './insert-pages.ts';

/** Sitemaps of one crawl: as many as one index may list by the protocol. */
const MOST_SITEMAPS = 50_000;

/**
 * The sitemaps of a seed's origin, whose robots.txt has been read when an attempt at the seed is over. Called before that is
 * recorded: a crawl with nothing open would end before they came. A robots.txt may name a sitemap on any host: that is how
 * the protocol lets one host speak for another. Returns their domains.
 */
export async function announceSitemaps(
  db: Database,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  pageId: string,
): Promise<string[]> {
  // Beyond the seeds nothing is wanted, and a sitemap lists nothing else.
  if (settings.maxDepth === 0) return [];
  const [seed] = await db.$queryRaw<{ url: string }[]>`
    SELECT url FROM pages WHERE id = ${BigInt(pageId)} AND is_seed`;
  if (seed === undefined) return [];
  const origin = originOf(seed.url);
  const [robots] = await db.$queryRaw<{ body: string | null }[]>`
    SELECT body FROM robots WHERE origin = ${origin} AND fetched_at IS NOT NULL`;
  if (robots === undefined) return [];
  return db.atomically(async (tx) => {
    const page = await lockPage(tx, pageId);
    if (page === null || !isUnderWay(page)) return [];
    // Nobody has a row to count in here, and a robots.txt names a thousand at most.
    return registerSitemaps(tx, unit, page, announcedSitemaps(robots.body, origin), 0, () => {});
  });
}

/** `depth`: the indexes above them. Returns the domains of those that fit the crawl's bound. */
export async function registerSitemaps(
  tx: Queries,
  unit: PolitenessUnit,
  page: PageRow,
  urls: readonly string[],
  depth: number,
  skip: (reason: SkipReason, urls: number) => void,
): Promise<string[]> {
  if (urls.length === 0) return [];
  const [{ known } = { known: 0 }] = await tx.$queryRaw<{ known: number }[]>`
    SELECT count(*)::int AS known FROM pages WHERE crawl_id = ${page.crawl_id} AND kind = 'sitemap'`;
  const pages = urls
    .slice(0, Math.max(0, MOST_SITEMAPS - known))
    .map((url) => newPage({ urlTypes: [] }, unit, url, page.keyword));
  if (pages.length < urls.length) skip('too many sitemaps', urls.length - pages.length);
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
  await makeSitemaps(
    tx,
    page.crawl_id,
    pages.map(({ hash }) => hash),
  );
  return [...new Set(pages.map(({ domain }) => domain))];
}

/** A link may have led here first. As a page it would be fetched in vain: a sitemap is nothing that is kept. */
async function makeSitemaps(tx: Queries, crawlId: string, hashes: readonly Buffer[]): Promise<void> {
  await tx.$executeRaw`
    UPDATE pages SET kind = 'sitemap', depth = 0 WHERE id IN (
      SELECT id FROM pages
      WHERE crawl_id = ${crawlId} AND url_hash IN (SELECT decode(hash, 'hex') FROM unnest(${hashes.map((hash) => hash.toString('hex'))}::text[]) AS hash)
        AND kind = 'page' AND status = 'Pending' AND NOT is_seed
      FOR UPDATE SKIP LOCKED)`;
}
