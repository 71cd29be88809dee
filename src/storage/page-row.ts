/** A page as the transactions that change it hold it: locked, with what they need of its crawl. */
import type { PageStatus } from '../outcome.ts';
import type { Prisma } from './generated/client.ts';

export interface Recorded {
  /** The page's workflow may go on (it waits for its next attempt); false: it ends. */
  goesOn: boolean;
  /** Domains in which there may now be something to admit. */
  domains: string[];
}

export interface PageRow {
  id: bigint;
  crawl_id: string;
  url: string;
  domain: string;
  status: PageStatus;
  depth: number;
  hops: number;
  seed: boolean;
  priority: number;
  attempts: number;
  scope_hosts: string[];
}

export async function lockPage(tx: Prisma.TransactionClient, pageId: string): Promise<PageRow | null> {
  const [page] = await tx.$queryRaw<PageRow[]>`
    SELECT p.id, p.crawl_id, p.url, p.domain, p.status::text, p.depth, p.hops, p.seed, p.priority, p.attempts, c.scope_hosts
    FROM pages p JOIN crawls c ON c.id = p.crawl_id WHERE p.id = ${BigInt(pageId)} FOR UPDATE OF p`;
  return page ?? null;
}
