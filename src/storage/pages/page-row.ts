/** A page as the transactions that change it read it: locked, with what they need of its crawl. */
import type { PageStatus } from '../../core/outcome.ts';
import type { AdmittedPage } from '../../core/page-input.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import type { FollowRule } from '../../urls/scope.ts';
import type { Database } from '../database.ts';
import type { UrlKind } from '../generated/enums.ts';
import type { Queries } from '../raw-sql.ts';

export interface Recorded {
  /** Whether the page's workflow waits for its next attempt. false: it ends. */
  continues: boolean;
  /** Domains in which there may now be pages to admit, the page's own first. */
  domains: string[];
  /** Other pages of its domain that are queued. Unset: not counted. */
  othersQueued?: number;
  /** Pages of its domain that were admitted with the record. Unset: none were looked for. */
  refilled?: AdmittedPage[];
  /** The page as it is now. Unset: nothing was recorded, because it had been before or the page is over. */
  became?: PageChange;
}

export type PageChange = Pick<PageRow, 'url' | 'domain' | 'status'>;

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
  attempts_before: number;
  scope_hosts: string[];
  /** By operators, since the crawl began. */
  excluded: string[];
}

export async function lockPage(tx: Queries, pageId: string): Promise<PageRow | null> {
  const [page] = await tx.$queryRaw<PageRow[]>`
    SELECT p.id, p.crawl_id, p.url, p.domain, p.kind::text, p.status::text, p.depth, p.redirect_count, p.is_seed, p.priority,
           p.keyword, p.attempts, p.attempts_before, c.scope_hosts, c.excluded
    FROM pages p JOIN crawls c ON c.id = p.crawl_id WHERE p.id = ${BigInt(pageId)} FOR UPDATE OF p`;
  return page ?? null;
}

export function changed({ url, domain }: PageRow, status: PageStatus): PageChange {
  return { url, domain, status };
}

/** Which links of the page become pages. */
export function followRuleFor(settings: CrawlSettings, page: PageRow): CrawlSettings & FollowRule {
  const exclude = page.excluded.length === 0 ? settings.exclude : [...settings.exclude, ...page.excluded];
  return { ...settings, exclude, seedHosts: page.scope_hosts };
}

/** Whether the page has a workflow. While such a page is locked, its crawl cannot end. */
export function isAdmitted({ status }: PageRow): boolean {
  return status === 'Queued' || status === 'Waiting';
}

/**
 * How long the crawl has known the page; 0 if there is no such page. A site that failed for longer is no reason to give the
 * page up: it was not requested then.
 */
export async function pageAgeMs(db: Database, pageId: string): Promise<number> {
  const [row] = await db.$queryRaw<{ ms: number }[]>`
    SELECT (extract(epoch FROM now() - created_at) * 1000)::float8 AS ms FROM pages WHERE id = ${BigInt(pageId)}`;
  return row?.ms ?? 0;
}
