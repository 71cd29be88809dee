/** A page as the transactions that change it hold it: locked, with what they need of its crawl. */
import type { PageStatus } from '../../core/outcome.ts';
import type { UrlKind } from '../generated/enums.ts';
import type { Queries } from '../raw-sql.ts';

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
  kind: UrlKind;
  status: PageStatus;
  depth: number;
  redirect_count: number;
  is_seed: boolean;
  priority: number;
  keyword: string | null;
  attempts: number;
  scope_hosts: string[];
}

export async function lockPage(tx: Queries, pageId: string): Promise<PageRow | null> {
  const [page] = await tx.$queryRaw<PageRow[]>`
    SELECT p.id, p.crawl_id, p.url, p.domain, p.kind::text, p.status::text, p.depth, p.redirect_count, p.is_seed, p.priority, p.keyword,
           p.attempts, c.scope_hosts
    FROM pages p JOIN crawls c ON c.id = p.crawl_id WHERE p.id = ${BigInt(pageId)} FOR UPDATE OF p`;
  return page ?? null;
}

/** It has a workflow that may speak for it. Locked while that is so, its crawl cannot end. */
export function isUnderWay({ status }: PageRow): boolean {
  return status === 'Queued' || status === 'Waiting';
}
