/**
 * What a sitemap lists enters the frontier, a batch in a transaction of its own: 50,000 pages are never locked together, and
 * a read that breaks off half-way is repeated at no harm.
 */
import type { CrawlSettings } from '../settings.ts';
import type { SitemapEntry } from '../sitemaps/index.ts';
import { hostnameOf, inScope, normaliseUrl, type PolitenessUnit, whyNotFollow } from '../urls/index.ts';
import type { Database } from './database.ts';
import { insertPages, type NewPage, newPage } from './insert-pages.ts';
import { letIntoDomain } from './let-in.ts';
import { isUnderWay, lockPage, type PageRow } from './page-row.ts';
import { registerSitemaps } from './register-sitemaps.ts';

export interface ListedEntries {
  settings: CrawlSettings;
  keyedBy: PolitenessUnit;
  /** The sitemap. */
  pageId: string;
  entries: readonly SitemapEntry[];
}

/** As a link on the page it was started from would be: with `maxDepth` 0, a crawl keeps to its seeds. */
const ENTRY_DEPTH = 1;

/** By the protocol an index lists no other index. Some do all the same, so one such step is taken. */
const MOST_INDEXES = 2;

/**
 * A page is held to the crawl's scope like any link, whichever host its sitemap is on: what may be fetched is for the
 * robots.txt of its own host to say. A further sitemap must be in scope or on the host of its index.
 */
export async function registerEntries(db: Database, listed: ListedEntries): Promise<void> {
  const { settings, keyedBy, pageId, entries } = listed;
  const pages = await db.atomically(async (tx) => {
    const sitemap = await lockPage(tx, pageId);
    // It has ended meanwhile, cancelled perhaps: then nobody would look after what is added now.
    if (sitemap === null || !isUnderWay(sitemap)) return [];
    const { further, pages: listedPages } = sorted(settings, keyedBy, sitemap, entries);
    const pages = await letIntoDomain(tx, settings, sitemap.crawl_id, listedPages, () => {});
    await registerSitemaps(tx, keyedBy, sitemap, further, sitemap.depth + 1);
    await insertPages(tx, {
      crawlId: sitemap.crawl_id,
      order: settings.order,
      depth: ENTRY_DEPTH,
      hops: 0,
      seed: false,
      foundOn: sitemap.id,
      pages,
    });
    return pages.map((page) => ({ ...page, crawlId: sitemap.crawl_id }));
  });
  await recordLastmod(db, pages);
}

function sorted(
  settings: CrawlSettings,
  keyedBy: PolitenessUnit,
  sitemap: PageRow,
  entries: readonly SitemapEntry[],
): { further: string[]; pages: NewPage[] } {
  const scope = { scope: settings.scope, seedHosts: sitemap.scope_hosts };
  const host = hostnameOf(sitemap.url);
  const further = entries.filter(
    ({ kind, url }) =>
      kind === 'sitemap' && sitemap.depth < MOST_INDEXES && (hostnameOf(url) === host || inScope(url, scope)),
  );
  const follow = { ...settings, seedHosts: sitemap.scope_hosts };
  const pages = entries
    .filter(({ kind }) => kind === 'page')
    .flatMap((entry) => {
      const target = normaliseUrl(entry.url, undefined, settings.urls);
      return target.ok && whyNotFollow(target.url, follow) === null ? [{ ...entry, url: target.url }] : [];
    });
  return {
    further: further.map(({ url }) => url),
    pages: pages.map(({ url, lastmod }) => ({
      ...newPage(settings, keyedBy, url, sitemap.keyword),
      lastmod,
    })),
  };
}

/**
 * For pages that were known before; of several dates the latest holds. In a statement of its own that waits for nobody: held
 * together with the rows inserted above, locks on pages under way would close a ring. A page that is being recorded at
 * this very moment goes without.
 */
async function recordLastmod(db: Database, pages: readonly (NewPage & { crawlId: string })[]): Promise<void> {
  const dated = pages.filter(({ lastmod }) => lastmod);
  const [first] = dated;
  if (first === undefined) return;
  await db.$executeRaw`
    WITH said AS (
      SELECT decode(hash, 'hex') AS hash, max(lastmod::timestamptz) AS lastmod
      FROM unnest(${dated.map(({ hash }) => hash.toString('hex'))}::text[],
                  ${dated.map(({ lastmod }) => lastmod?.toISOString() ?? null)}::text[]) AS listed (hash, lastmod)
      GROUP BY 1),
    newer AS (
      SELECT page.id, said.lastmod FROM said JOIN pages page ON page.crawl_id = ${first.crawlId} AND page.url_hash = said.hash
      WHERE coalesce(page.lastmod, '-infinity') < said.lastmod
      FOR UPDATE OF page SKIP LOCKED)
    UPDATE pages SET lastmod = newer.lastmod FROM newer WHERE pages.id = newer.id`;
}
