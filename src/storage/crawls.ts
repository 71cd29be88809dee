/** Crawls: opened once and ended once. */

import type { CrawlOrder } from '../core/activities.ts';
import { NO_EFFECT } from '../core/order.ts';
import type { CrawlSettings, Seed } from '../core/settings.ts';
import { hostnameOf, type PolitenessUnit } from '../urls/index.ts';
import type { Database } from './database.ts';
import { letInUncounted } from './frontier/host-bounds.ts';
import { insertPages, newPage } from './frontier/insert-pages.ts';
import { withinQuotas } from './frontier/url-quotas.ts';
import { Prisma } from './generated/client.ts';
import { insertOrder } from './orders.ts';

export interface CrawlRecord {
  id: string;
  status: 'Running' | 'Paused' | 'Cancelling' | 'Completed' | 'Cancelled' | 'Failed';
  settings: CrawlSettings;
  seeds: string[];
}

/**
 * Opens the crawl with its seeds. Repeated, it changes nothing, so a crawl whose workflow was lost is resumed with the settings
 * it was opened with.
 */
export async function openCrawl(
  db: Database,
  crawl: { id: string; seeds: readonly Seed[]; settings: CrawlSettings; unit: PolitenessUnit },
): Promise<CrawlRecord> {
  const { settings, unit } = crawl;
  const urls = crawl.seeds.map(({ url }) => url);
  await db.inTransaction(async (tx) => {
    const opened = await tx.$executeRaw`
      INSERT INTO crawls (id, seeds, settings, scope_hosts, max_pages, warmed_up)
      VALUES (${crawl.id}, ${urls}, ${JSON.stringify(settings)}::jsonb, ${[...new Set(urls.map(hostnameOf))]},
              ${settings.maxPages}, ${settings.warmup.pending === 0})
      ON CONFLICT DO NOTHING`;
    if (opened === 0) return;
    const seeds = crawl.seeds.map(({ url, keyword, priority }) => {
      const page = newPage(settings, unit, url, keyword);
      return { ...page, priority: priority ?? page.priority };
    });
    await letInUncounted(tx, settings, crawl.id, urls);
    // Seeds are counted against the quotas, but accepted over quota: the user asked for them.
    await withinQuotas(tx, settings, crawl.id, seeds, () => {});
    await insertPages(tx, {
      crawlId: crawl.id,
      order: settings.order,
      depth: 0,
      redirectCount: 0,
      isSeed: true,
      foundOnId: null,
      pages: seeds,
    });
  });
  return readCrawl(db, crawl.id);
}

export async function readCrawl(db: Database, id: string): Promise<CrawlRecord> {
  const crawl = await findCrawl(db, id);
  if (crawl === null) throw new Error(`There is no crawl "${id}" in the database.`);
  return crawl;
}

export async function findCrawl(db: Database, id: string): Promise<CrawlRecord | null> {
  const row = await db.crawl.findUnique({ where: { id } });
  if (row === null) return null;
  return {
    id: row.id,
    status: row.status,
    seeds: row.seeds,
    settings: toSettings(row.settings),
  };
}

/** As `openCrawl`, which alone writes them, stored them: parsed and complete. */
export function toSettings(stored: Prisma.JsonValue): CrawlSettings {
  return stored as unknown as CrawlSettings;
}

/** After a crawl is resumed, it is unknown which of its pages still have a workflow: the next sweeps check all of them. */
export async function checkAllPagesSoon(db: Database, id: string): Promise<void> {
  await db.$executeRaw`
    UPDATE pages SET check_at = now() WHERE crawl_id = ${id} AND status IN ('Queued', 'Waiting')`;
}

const STATUS_AFTER = { pause: 'Paused', resume: 'Running', cancel: 'Cancelling' } as const;

/**
 * Changes the status of a crawl and records the order, both or neither. While the row says Paused, nothing is admitted, and a page
 * that gets a slot or wakes up returns to the frontier. Repeated, it changes nothing. Returns false then, and if the crawl has
 * ended, is being cancelled, or does not exist.
 */
export async function applyCrawlOrder(db: Database, crawlId: string, order: CrawlOrder): Promise<boolean> {
  const status = STATUS_AFTER[order.kind];
  const effect = Prisma.sql`
    CASE WHEN status::text = ${status} THEN ${NO_EFFECT} ELSE status || ' → ' || ${status} END`;
  const target = { crawlId, domain: null };
  const applied = await db.$executeRaw`
    WITH crawl AS (
      SELECT id, status FROM crawls WHERE id = ${crawlId} AND status IN ('Running', 'Paused') FOR NO KEY UPDATE),
    recorded AS (${insertOrder(order, target, effect, Prisma.sql`FROM crawl`)} RETURNING crawl_id)
    UPDATE crawls SET status = ${status}::crawl_status FROM recorded WHERE crawls.id = recorded.crawl_id`;
  return applied === 1;
}

export async function endCrawl(
  db: Database,
  id: string,
  status: 'Completed' | 'Cancelled' | 'Failed',
  reason: string | null,
): Promise<void> {
  await db.crawl.updateMany({
    where: { id, status: { in: ['Running', 'Paused', 'Cancelling'] } },
    data: { status, reason, finishedAt: new Date() },
  });
}
