/**
 * Limits on how many URLs of one group (a directory, a query, a calendar, a domain) a crawl accepts, against sites without an
 * end. Only URLs that are new to the crawl are counted, so a page that links to known pages, as most do, writes nothing here.
 * Two transactions that find the same URL at the same moment count it twice: a count may be off by a few.
 */
import { mapInTurns } from '../../core/in-turns.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import { domainQuota, quotaOf, type SkipReason, type UrlQuota } from '../../urls/index.ts';
import { Prisma } from '../generated/client.ts';
import type { Queries } from '../raw-sql.ts';
import type { NewPage } from './insert-pages.ts';
import { isKnown } from './new-urls.ts';

/** The pages within their quotas: that of their directory, query or calendar first, then that of their domain. */
export async function withinQuotas<T extends NewPage>(
  tx: Queries,
  settings: CrawlSettings,
  crawlId: string,
  pages: readonly T[],
  skip: (reason: SkipReason) => void,
): Promise<T[]> {
  const inGroup = await withinQuota(tx, crawlId, pages, (page) => quotaOf(page.url, settings.traps), skip);
  return withinDomainQuota(tx, settings, crawlId, inGroup, skip);
}

/** For pages that a site lists itself: its list has an end, so only the domain's own limit applies. */
export async function withinDomainQuota<T extends NewPage>(
  tx: Queries,
  { maxPagesPerDomain }: CrawlSettings,
  crawlId: string,
  pages: readonly T[],
  skip: (reason: SkipReason) => void,
): Promise<T[]> {
  if (maxPagesPerDomain === null) return [...pages];
  return withinQuota(tx, crawlId, pages, ({ domain }) => domainQuota(domain, maxPagesPerDomain), skip);
}

async function withinQuota<T extends NewPage>(
  tx: Queries,
  crawlId: string,
  pages: readonly T[],
  quotaFor: (page: T) => UrlQuota | null,
  skip: (reason: SkipReason) => void,
): Promise<T[]> {
  const quotas = await mapInTurns(pages, (page) => ({ page, hash: page.hash, quota: quotaFor(page) }));
  const counted = quotas.flatMap(({ quota, ...rest }) => (quota === null ? [] : [{ ...rest, quota }]));
  const refused = new Set<NewPage>();
  for (const { page, quota } of await countUrls(tx, crawlId, counted)) {
    refused.add(page);
    skip(quota.reason);
  }
  return pages.filter((page) => !refused.has(page));
}

interface CountedUrl {
  /** Of the URL. */
  hash: Buffer;
  quota: UrlQuota;
}

/** Counts new URLs and returns those over their quota. Rows are locked in one order, and before those of pages: see `finishPage`. */
async function countUrls<T extends CountedUrl>(
  tx: Queries,
  crawlId: string,
  urls: readonly T[],
): Promise<Set<T>> {
  if (urls.length === 0) return new Set();
  const refused = await tx.$queryRaw<{ nr: bigint }[]>`
    WITH fresh AS (
      SELECT nr, decode(group_hash, 'hex') AS group_hash, group_name, quota,
             row_number() OVER (PARTITION BY group_hash ORDER BY nr) AS nth
      FROM unnest(${urls.map(({ hash }) => hash.toString('hex'))}::text[],
                  ${urls.map(({ quota }) => quota.hash.toString('hex'))}::text[],
                  ${urls.map(({ quota }) => quota.name)}::text[], ${urls.map(({ quota }) => quota.limit)}::int[])
           WITH ORDINALITY AS url (hash, group_hash, group_name, quota, nr)
      WHERE NOT ${isKnown(crawlId, Prisma.sql`decode(url.hash, 'hex')`)}),
    judged AS (
      -- A subquery, because for a join the planner may read all counts of the crawl.
      SELECT fresh.*, nth + coalesce((SELECT url_count FROM crawl_url_counts known
                                      WHERE known.crawl_id = ${crawlId} AND known.group_hash = fresh.group_hash), 0) <= quota AS fits
      FROM fresh),
    counted AS (
      INSERT INTO crawl_url_counts (crawl_id, group_hash, group_name, url_count)
      SELECT ${crawlId}, group_hash, min(group_name), count(*)::int FROM judged WHERE fits
      GROUP BY group_hash ORDER BY group_hash
      ON CONFLICT (crawl_id, group_hash) DO UPDATE SET url_count = crawl_url_counts.url_count + excluded.url_count)
    SELECT nr FROM judged WHERE NOT fits`;
  const numbers = new Set(refused.map(({ nr }) => Number(nr)));
  return new Set(urls.filter((_, i) => numbers.has(i + 1)));
}
