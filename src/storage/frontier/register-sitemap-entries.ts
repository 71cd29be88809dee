/**
 * Adds the entries of a sitemap to the frontier, one batch per transaction: 50,000 pages are never locked together, and an
 * interrupted read can be repeated safely.
 */
import { forEachInTurns } from '../../core/in-turns.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import type { SitemapEntry } from '../../sitemaps/index.ts';
import {
  countSkip,
  hostnameOf,
  inScope,
  normaliseUrl,
  type PolitenessUnit,
  type SkipCounts,
  type SkipReason,
  skipReasonFor,
} from '../../urls/index.ts';
import type { Database } from '../database.ts';
import { followRuleFor, isAdmitted, lockPage, type PageRow } from '../pages/page-row.ts';
import { withinHostBounds } from './host-bounds.ts';
import { insertPages, type NewPage, newPage } from './insert-pages.ts';
import { registerSitemaps } from './register-sitemaps.ts';
import { withinDomainQuota } from './url-quotas.ts';

export interface SitemapEntries {
  settings: CrawlSettings;
  unit: PolitenessUnit;
  /** Of the sitemap. */
  pageId: string;
  entries: readonly SitemapEntry[];
}

/** The same as for a link on a seed: with `maxDepth` 0, a crawl is limited to its seeds. */
const ENTRY_DEPTH = 1;

/** The protocol does not allow an index in an index. Some sites do it anyway, so one level is followed. */
const MAX_INDEX_DEPTH = 2;

/**
 * A page must be in the crawl's scope like any link, whichever host its sitemap is on; the robots.txt of its own host decides
 * whether it may be fetched. A sitemap must be in scope or on the host of its index. Returns how many were skipped, by reason.
 */
export async function registerSitemapEntries(db: Database, listed: SitemapEntries): Promise<SkipCounts> {
  const { settings, unit, pageId, entries } = listed;
  const { pages, skipped } = await db.inTransaction(async (tx) => {
    const skipped: SkipCounts = {};
    const skip = (reason: SkipReason, urls = 1): void => countSkip(skipped, reason, urls);
    const sitemap = await lockPage(tx, pageId);
    // It has ended in the meantime, perhaps by cancellation: then no workflow would process what is added now.
    if (sitemap === null || !isAdmitted(sitemap)) return { pages: [], skipped };
    const { further, pages: listedPages } = await sortEntries(settings, unit, sitemap, entries, skip);
    const { crawl_id: crawlId, url: foundOn } = sitemap;
    const onHosts = await withinHostBounds(tx, settings, { crawlId, foundOn, pages: listedPages, skip });
    const pages = await withinDomainQuota(tx, settings, crawlId, onHosts, skip);
    await registerSitemaps(tx, settings, unit, sitemap, further, sitemap.depth + 1, skip);
    await insertPages(tx, {
      crawlId,
      order: settings.order,
      depth: ENTRY_DEPTH,
      redirectCount: 0,
      isSeed: false,
      foundOnId: sitemap.id,
      pages,
    });
    return { pages: pages.map((page) => ({ ...page, crawlId })), skipped };
  });
  await recordLastmod(db, pages);
  return skipped;
}

async function sortEntries(
  settings: CrawlSettings,
  unit: PolitenessUnit,
  sitemap: PageRow,
  entries: readonly SitemapEntry[],
  skip: (reason: SkipReason) => void,
): Promise<{ further: string[]; pages: NewPage[] }> {
  const follow = followRuleFor(settings, sitemap);
  const host = hostnameOf(sitemap.url);
  const further: string[] = [];
  const pages: NewPage[] = [];
  await forEachInTurns(entries, ({ kind, url, lastmod }) => {
    if (kind === 'sitemap') {
      if (sitemap.depth >= MAX_INDEX_DEPTH) skip('too many sitemap indexes in a row');
      else if (hostnameOf(url) !== host && !inScope(url, follow)) skip('out of scope');
      else further.push(url);
      return;
    }
    const target = normaliseUrl(url, undefined, settings.urls);
    // The sitemap reader has parsed it already, so only the crawl's own length limit can reject it now.
    const reason = target.ok ? skipReasonFor(target.url, follow) : 'too long';
    if (target.ok && reason === null)
      pages.push({ ...newPage(settings, unit, target.url, sitemap.keyword), lastmod });
    else if (reason !== null) skip(reason);
  });
  return { further, pages };
}

/**
 * Sets the date of pages that were known before, to the latest of several. A separate statement that skips locked rows: locks on
 * pages in progress, taken together with the inserts above, could deadlock. A page that is being recorded keeps its date.
 */
async function recordLastmod(db: Database, pages: readonly (NewPage & { crawlId: string })[]): Promise<void> {
  const dated = pages.filter(({ lastmod }) => lastmod);
  const [first] = dated;
  if (first === undefined) return;
  await db.$executeRaw`
    WITH latest AS (
      SELECT decode(hash, 'hex') AS hash, max(lastmod::timestamptz) AS lastmod
      FROM unnest(${dated.map(({ hash }) => hash.toString('hex'))}::text[],
                  ${dated.map(({ lastmod }) => lastmod?.toISOString() ?? null)}::text[]) AS listed (hash, lastmod)
      GROUP BY 1),
    newer AS (
      SELECT page.id, latest.lastmod FROM latest JOIN pages page ON page.crawl_id = ${first.crawlId} AND page.url_hash = latest.hash
      WHERE coalesce(page.lastmod, '-infinity') < latest.lastmod
      FOR UPDATE OF page SKIP LOCKED)
    UPDATE pages SET lastmod = newer.lastmod FROM newer WHERE pages.id = newer.id`;
}
