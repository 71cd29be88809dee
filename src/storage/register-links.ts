/** Every outbound link is kept; those in scope enter the frontier. */
import type { CrawlSettings } from '../settings.ts';
import { inScope, type PolitenessUnit, politenessKey, urlHash } from '../urls/index.ts';
import type { Prisma } from './generated/client.ts';
import { insertPages } from './insert-pages.ts';
import type { PageRow } from './page-row.ts';

export interface OutLink {
  /** Normalised and absolute. */
  url: string;
  anchor: string | null;
  rel: string | null;
  nofollow: boolean;
}

/** Returns the domains of the links that were let in. */
export async function registerLinks(
  tx: Prisma.TransactionClient,
  settings: CrawlSettings,
  keyedBy: PolitenessUnit,
  page: PageRow,
  links: readonly OutLink[],
): Promise<string[]> {
  if (links.length === 0) return [];
  const hashed = links.map((link) => ({ link, hash: urlHash(link.url) }));
  await tx.$executeRaw`
    INSERT INTO links (page_id, url_hash, url, anchor, rel)
    SELECT ${page.id}, decode(hash, 'hex'), url, anchor, rel
    FROM unnest(${hashed.map(({ hash }) => hash.toString('hex'))}::text[], ${hashed.map(({ link }) => link.url)}::text[],
                ${hashed.map(({ link }) => link.anchor)}::text[], ${hashed.map(({ link }) => link.rel)}::text[])
         AS link (hash, url, anchor, rel)
    ON CONFLICT DO NOTHING`;
  if (settings.maxDepth !== null && page.depth >= settings.maxDepth) return [];
  const scope = { scope: settings.scope, seedHosts: page.scope_hosts };
  const pages = hashed
    .filter(({ link }) => !link.nofollow && inScope(link.url, scope))
    .map(({ link, hash }) => ({ url: link.url, hash, domain: politenessKey(link.url, keyedBy) }));
  await insertPages(tx, {
    crawlId: page.crawl_id,
    depth: page.depth + 1,
    hops: 0,
    seed: false,
    foundOn: page.id,
    pages,
  });
  return [...new Set(pages.map(({ domain }) => domain))];
}
