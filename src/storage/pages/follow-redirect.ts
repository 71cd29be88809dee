/** A redirect ends its page. Its target becomes a page of its own, so it is fetched once, whatever leads to it. */
import type { CrawlSettings } from '../../core/settings.ts';
import { looksLikeSitemap } from '../../sitemaps/index.ts';
import {
  hostnameOf,
  type PolitenessUnit,
  type SkipReason,
  skipReasonFor,
  urlHash,
} from '../../urls/index.ts';
import { letInUncounted, withinHostBounds } from '../frontier/host-bounds.ts';
import { insertPages, type NewPage, newPage } from '../frontier/insert-pages.ts';
import { withinQuotas } from '../frontier/url-quotas.ts';
import type { Queries } from '../raw-sql.ts';
import { followRuleFor, type PageRow } from './page-row.ts';

export interface Followed {
  /** Domains in which there may now be pages to admit. */
  domains: string[];
  /** Why the target is not followed. null: it is. */
  refusal: string | null;
}

export async function followRedirect(
  tx: Queries,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  page: PageRow,
  target: string,
): Promise<Followed> {
  const refusal =
    whyNotFollowed(settings, page, target) ?? (await findRedirectLoop(tx, settings, page, target));
  if (refusal !== null) return { domains: [], refusal };
  const followed = newPage(settings, unit, target, page.keyword);
  const full = await skipReasonInCrawl(tx, settings, page, followed);
  if (full !== null) return { domains: [], refusal: notFollowed(full) };
  await insertPages(tx, {
    crawlId: page.crawl_id,
    order: settings.order,
    depth: page.depth,
    redirectCount: page.redirect_count + 1,
    isSeed: page.is_seed,
    foundOnId: page.id,
    kind: page.kind,
    // Without a type of its own it inherits the priority of the page that redirects to it.
    pages: [{ ...followed, priority: followed.type === null ? page.priority : followed.priority }],
  });
  // The user gave the old address of a seed and meant the new one.
  if (page.is_seed) await widenScope(tx, page, hostnameOf(target));
  return { domains: [followed.domain], refusal };
}

/** Why the crawl has no room for the target. null: it has. */
async function skipReasonInCrawl(
  tx: Queries,
  settings: CrawlSettings,
  page: PageRow,
  target: NewPage,
): Promise<SkipReason | null> {
  const { crawl_id: crawlId, url: foundOn } = page;
  if (page.is_seed) {
    // The target of a seed is what the user asked for: it is counted, but accepted even over quota.
    await letInUncounted(tx, settings, crawlId, [target.url]);
    await withinQuotas(tx, settings, crawlId, [target], () => {});
    return null;
  }
  const reasons: SkipReason[] = [];
  const skip = (reason: SkipReason): void => void reasons.push(reason);
  const pages = await withinHostBounds(tx, settings, { crawlId, foundOn, pages: [target], skip });
  if (page.kind === 'page') await withinQuotas(tx, settings, crawlId, pages, skip);
  return reasons[0] ?? null;
}

/** A loop would end without this check too, but its last page would be recorded as a redirect that was followed. */
async function findRedirectLoop(
  tx: Queries,
  { maxRedirects }: CrawlSettings,
  page: PageRow,
  target: string,
): Promise<string | null> {
  const [back] = await tx.$queryRaw<unknown[]>`
    WITH RECURSIVE ahead (redirect_to, step) AS (
      SELECT redirect_to, 1 FROM pages WHERE crawl_id = ${page.crawl_id} AND url_hash = ${urlHash(target)}
      UNION ALL
      SELECT next.redirect_to, step + 1 FROM ahead JOIN pages next
        ON next.crawl_id = ${page.crawl_id} AND next.url_hash = sha256(convert_to(ahead.redirect_to, 'UTF8'))
      WHERE step <= ${maxRedirects})
    SELECT 1 FROM ahead WHERE redirect_to = ${page.url} LIMIT 1`;
  return back === undefined ? null : 'not followed: the redirects form a loop';
}

async function widenScope(tx: Queries, page: PageRow, host: string): Promise<void> {
  if (page.scope_hosts.includes(host)) return;
  await tx.$executeRaw`
    UPDATE crawls SET scope_hosts = array_append(scope_hosts, ${host})
    WHERE id = ${page.crawl_id} AND NOT scope_hosts @> ARRAY[${host}]`;
}

function whyNotFollowed(settings: CrawlSettings, page: PageRow, target: string): string | null {
  if (page.redirect_count >= settings.maxRedirects)
    return `not followed: more than ${settings.maxRedirects} redirects in a row`;
  if (page.kind === 'sitemap') {
    if (!looksLikeSitemap(target)) return 'not followed: the target does not look like a sitemap';
    // A sitemap that a robots.txt names may be out of scope, and may redirect within its host.
    if (hostnameOf(target) === hostnameOf(page.url)) return null;
  }
  if (page.is_seed) return null;
  const reason = skipReasonFor(target, followRuleFor(settings, page));
  return reason === null ? null : notFollowed(reason);
}

function notFollowed(reason: SkipReason): string {
  return reason === 'out of scope' ? 'not followed: the target is out of scope' : `not followed: ${reason}`;
}
