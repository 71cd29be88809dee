/** How URLs enter a crawl: each once, whoever finds it and however often. */
import type { Prisma } from './generated/client.ts';

export interface NewPage {
  url: string;
  hash: Buffer;
  domain: string;
}

/**
 * Inserts the pages a crawl does not have yet. Sorted by hash, so that two pages full of the same links wait for each
 * other's rows in the same order instead of dead-locking.
 */
export async function insertPages(
  tx: Prisma.TransactionClient,
  batch: {
    crawlId: string;
    depth: number;
    hops: number;
    seed: boolean;
    foundOn: bigint | null;
    pages: readonly NewPage[];
  },
): Promise<void> {
  if (batch.pages.length === 0) return;
  const sorted = [...batch.pages].sort((a, b) => Buffer.compare(a.hash, b.hash));
  const domains = [...new Set(sorted.map((page) => page.domain))].sort();
  await tx.$executeRaw`
    WITH met AS (
      INSERT INTO crawl_domains (crawl_id, domain)
      SELECT ${batch.crawlId}, domain FROM unnest(${domains}::text[]) AS domain
      ON CONFLICT DO NOTHING)
    INSERT INTO pages (crawl_id, url, url_hash, domain, depth, hops, seed, found_on)
    SELECT ${batch.crawlId}, url, decode(hash, 'hex'), domain, ${batch.depth}, ${batch.hops}, ${batch.seed}, ${batch.foundOn}::bigint
    FROM unnest(${sorted.map((p) => p.url)}::text[], ${sorted.map((p) => p.hash.toString('hex'))}::text[],
                ${sorted.map((p) => p.domain)}::text[]) AS page (url, hash, domain)
    ON CONFLICT (crawl_id, url_hash) DO NOTHING`;
}
