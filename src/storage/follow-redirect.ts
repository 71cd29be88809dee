/** A redirect ends its page; the target becomes a page of its own, so it is fetched once whoever points at it. */
import type { CrawlSettings } from '../settings.ts';
import { hostnameOf, inScope, type PolitenessUnit, politenessKey, urlHash } from '../urls/index.ts';
import type { Prisma } from './generated/client.ts';
import { insertPages } from './insert-pages.ts';
import type { PageRow } from './page-row.ts';

const MOST_HOPS = 5;

export interface Followed {
  /** Domains in which there may now be something to admit. */
  domains: string[];
  /** Why the target is not followed; null: it is. */
  refusal: string | null;
}

export async function followRedirect(
  tx: Prisma.TransactionClient,
  settings: CrawlSettings,
  keyedBy: PolitenessUnit,
  page: PageRow,
  target: string,
): Promise<Followed> {
  const refusal = refusalOf(settings, page, target);
  if (refusal !== null) return { domains: [], refusal };
  const domain = politenessKey(target, keyedBy);
  await insertPages(tx, {
    crawlId: page.crawl_id,
    depth: page.depth,
    hops: page.hops + 1,
    seed: page.seed,
    foundOn: page.id,
    pages: [{ url: target, hash: urlHash(target), domain }],
  });
  // People name a seed by its old address: where it moved to is what they meant.
  if (page.seed) await widenScope(tx, page, hostnameOf(target));
  return { domains: [domain], refusal };
}

async function widenScope(tx: Prisma.TransactionClient, page: PageRow, host: string): Promise<void> {
  if (page.scope_hosts.includes(host)) return;
  await tx.$executeRaw`
    UPDATE crawls SET scope_hosts = array_append(scope_hosts, ${host})
    WHERE id = ${page.crawl_id} AND NOT scope_hosts @> ARRAY[${host}]`;
}

function refusalOf(settings: CrawlSettings, page: PageRow, target: string): string | null {
  if (page.hops >= MOST_HOPS) return `not followed: more than ${MOST_HOPS} redirects in a row`;
  if (page.seed || inScope(target, { scope: settings.scope, seedHosts: page.scope_hosts })) return null;
  return 'not followed: the target is out of scope';
}
