/** Which of the pages that were found a crawl has room for, by the limits that need counting. */
import type { CrawlSettings } from '../../core/settings.ts';
import { domainQuota, quotaOf, type SkipReason, type UrlQuota } from '../../urls/index.ts';
import type { Queries } from '../raw-sql.ts';
import type { NewPage } from './insert-pages.ts';
import { takePlaces } from './take-places.ts';

/** Those for whom there is room: in their directory, query or calendar first, then in their domain. */
export async function letIn<T extends NewPage>(
  tx: Queries,
  settings: CrawlSettings,
  crawlId: string,
  pages: readonly T[],
  skip: (reason: SkipReason) => void,
): Promise<T[]> {
  const inFamily = await withRoom(tx, crawlId, pages, (page) => quotaOf(page.url, settings.traps), skip);
  return letIntoDomain(tx, settings, crawlId, inFamily, skip);
}

/** For pages that a site itself has listed: it has an end, so nothing but the domain's own limit is against them. */
export async function letIntoDomain<T extends NewPage>(
  tx: Queries,
  { maxPagesPerDomain: most }: CrawlSettings,
  crawlId: string,
  pages: readonly T[],
  skip: (reason: SkipReason) => void,
): Promise<T[]> {
  if (most === null) return [...pages];
  return withRoom(tx, crawlId, pages, ({ domain }) => domainQuota(domain, most), skip);
}

async function withRoom<T extends NewPage>(
  tx: Queries,
  crawlId: string,
  pages: readonly T[],
  placeFor: (page: T) => UrlQuota | null,
  skip: (reason: SkipReason) => void,
): Promise<T[]> {
  const takers = pages.flatMap((page) => {
    const place = placeFor(page);
    return place === null ? [] : [{ page, hash: page.hash, place }];
  });
  const refused = new Set<NewPage>();
  for (const { page, place } of await takePlaces(tx, crawlId, takers)) {
    refused.add(page);
    skip(place.reason);
  }
  return pages.filter((page) => !refused.has(page));
}
