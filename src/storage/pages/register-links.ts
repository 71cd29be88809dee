/** Stores every outbound link, and adds those in scope that are new to the frontier. */
import { forEachInTurns, mapInTurns } from '../../core/in-turns.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import {
  countSkip,
  type PolitenessUnit,
  type SkipCounts,
  type SkipReason,
  skipReasonFor,
  urlHash,
} from '../../urls/index.ts';
import type { FollowRule } from '../../urls/scope.ts';
import { withinHostBounds } from '../frontier/host-bounds.ts';
import { insertPages, newPage } from '../frontier/insert-pages.ts';
import { findNew } from '../frontier/new-urls.ts';
import { withinQuotas } from '../frontier/url-quotas.ts';
import { Prisma } from '../generated/client.ts';
import type { Queries } from '../raw-sql.ts';
import { followRuleFor, type PageRow } from './page-row.ts';

export interface OutLink {
  /** Normalised and absolute. */
  url: string;
  anchor: string | null;
  rel: string | null;
  nofollow: boolean;
}

export interface Registered {
  /** Of the links that were added. */
  domains: string[];
  /** Links that were not added, by reason. */
  skipped: SkipCounts;
}

export async function registerLinks(
  tx: Queries,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  page: PageRow,
  links: readonly OutLink[],
): Promise<Registered> {
  const skipped: SkipCounts = {};
  if (links.length === 0) return { domains: [], skipped };
  const hashed = await mapInTurns(links, (link) => ({ link, hash: urlHash(link.url) }));
  const store = Prisma.sql`
    INSERT INTO links (page_id, url_hash, url, anchor, rel)
    SELECT ${page.id}, decode(hash, 'hex'), url, anchor, rel
    FROM unnest(${hashed.map(({ hash }) => hash.toString('hex'))}::text[], ${hashed.map(({ link }) => link.url)}::text[],
                ${hashed.map(({ link }) => link.anchor)}::text[], ${hashed.map(({ link }) => link.rel)}::text[])
         AS link (hash, url, anchor, rel)
    ON CONFLICT DO NOTHING`;
  const skip = (reason: SkipReason): void => countSkip(skipped, reason);
  const rule = followRuleFor(settings, page);
  const followed: typeof hashed = [];
  await forEachInTurns(hashed, (one) => {
    const reason = whyNot(rule, page, one.link);
    if (reason === null) followed.push(one);
    else skip(reason);
  });
  const found = await findNew(tx, page.crawl_id, followed, store);
  const onHosts = await withinHostBounds(tx, settings, {
    crawlId: page.crawl_id,
    foundOn: page.url,
    pages: await mapInTurns(found, ({ link, hash }) => newPage(settings, unit, link.url, page.keyword, hash)),
    skip,
  });
  const pages = await withinQuotas(tx, settings, page.crawl_id, onHosts, skip);
  await insertPages(tx, {
    crawlId: page.crawl_id,
    order: settings.order,
    depth: page.depth + 1,
    redirectCount: 0,
    isSeed: false,
    foundOnId: page.id,
    pages,
  });
  return { domains: [...new Set(pages.map(({ domain }) => domain))], skipped };
}

function whyNot(rule: FollowRule & CrawlSettings, page: PageRow, link: OutLink): SkipReason | null {
  if (link.nofollow) return 'nofollow';
  const reason = skipReasonFor(link.url, rule);
  if (reason !== null) return reason;
  return rule.maxDepth !== null && page.depth >= rule.maxDepth ? 'beyond max-depth' : null;
}
