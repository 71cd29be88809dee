/** The domains that set the end of each crawl, read now and then. */
import { LRUCache } from 'lru-cache';
import type { CrawlRecord } from '../storage/crawls.ts';
import type { Database } from '../storage/database.ts';
import { readLeadingDomains } from '../storage/frontier/leading-domains.ts';

const MAX_CRAWLS = 100;
/** Each page asks, and the answer changes slowly. */
const MAX_AGE_MS = 2_000;

export type LeadingDomains = (crawlId: string) => Promise<ReadonlySet<string>>;

export function createLeadingDomains(
  db: Database,
  crawlOf: (crawlId: string) => Promise<CrawlRecord>,
): LeadingDomains {
  const known = new LRUCache<string, ReadonlySet<string>>({
    max: MAX_CRAWLS,
    ttl: MAX_AGE_MS,
    // Nobody waits for an answer that only replaces an older one.
    allowStale: true,
    async fetchMethod(crawlId) {
      const { settings } = await crawlOf(crawlId);
      return readLeadingDomains(db, crawlId, settings.delay.minMs);
    },
  });
  return (crawlId) => known.forceFetch(crawlId);
}
