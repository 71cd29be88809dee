/** Crawls: opened once, ended once, read by everybody. */

import { BadInput } from '../core/bad-input.ts';
import type { CrawlSettings, Seed } from '../core/settings.ts';
import { hostnameOf, type PolitenessUnit } from '../urls/index.ts';
import type { Database } from './database.ts';
import { insertPages, newPage } from './frontier/insert-pages.ts';
import { letIn } from './frontier/url-quotas.ts';
import type { Prisma } from './generated/client.ts';
import type { Queries } from './raw-sql.ts';

export interface CrawlRecord {
  id: string;
  status: 'Running' | 'Paused' | 'Cancelling' | 'Completed' | 'Cancelled' | 'Failed';
  settings: CrawlSettings;
  seeds: string[];
  /** null: opened before this was noted. */
  keyedBy: PolitenessUnit | null;
}

/**
 * Opens the crawl with its seeds, or finds it open already: run again it changes nothing, so a crawl whose workflow was
 * lost is taken up where it stood, with the settings it began with.
 */
export async function openCrawl(
  db: Database,
  crawl: { id: string; seeds: readonly Seed[]; settings: CrawlSettings; keyedBy: PolitenessUnit },
): Promise<CrawlRecord> {
  const { settings, keyedBy } = crawl;
  const urls = crawl.seeds.map(({ url }) => url);
  await db.atomically(async (tx) => {
    await refuseSecondKey(tx, crawl);
    const opened = await tx.$executeRaw`
      INSERT INTO crawls (id, seeds, settings, keyed_by, scope_hosts, max_pages, warm)
      VALUES (${crawl.id}, ${urls}, ${JSON.stringify(settings)}::jsonb, ${keyedBy}::politeness_unit, ${[...new Set(urls.map(hostnameOf))]},
              ${settings.maxPages}, ${settings.warmup.pending === 0})
      ON CONFLICT DO NOTHING`;
    if (opened === 0) return;
    const seeds = crawl.seeds.map(({ url, keyword, priority }) => {
      const page = newPage(settings, keyedBy, url, keyword);
      return { ...page, priority: priority ?? page.priority };
    });
    // They take their places, but are let in even where there is none: people asked for them.
    await letIn(tx, settings, crawl.id, seeds, () => {});
    await insertPages(tx, {
      crawlId: crawl.id,
      order: settings.order,
      depth: 0,
      hops: 0,
      seed: true,
      foundOn: null,
      pages: seeds,
    });
  });
  return readCrawl(db, crawl.id);
}

/**
 * Domains named in two ways at a time would be two gaps for one server, so crawls that are not over share one key. The lock
 * is for two that open at once.
 */
async function refuseSecondKey(
  tx: Queries,
  { id, keyedBy }: { id: string; keyedBy: PolitenessUnit },
): Promise<void> {
  await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtext('crawls.keyed_by'))`;
  const [other] = await tx.$queryRaw<{ id: string; keyed_by: PolitenessUnit }[]>`
    SELECT id, keyed_by::text FROM crawls
    WHERE finished_at IS NULL AND keyed_by <> ${keyedBy}::politeness_unit AND id <> ${id} LIMIT 1`;
  if (other === undefined) return;
  throw new BadInput(
    `This installation is set to one gap per ${keyedBy}, but the crawl "${other.id}", which is not over, keeps one per ${other.keyed_by}, and a server with two would be asked too often: let that crawl end or cancel it first, or set politenessKey back to ${other.keyed_by}.`,
  );
}

/** How domains are named now: by the crawls that are not over, which share one key, or else as the installation is set. */
export async function keyInForce(db: Database, setting: PolitenessUnit): Promise<PolitenessUnit> {
  const crawl = await db.crawl.findFirst({
    where: { finishedAt: null, keyedBy: { not: null } },
    select: { keyedBy: true },
  });
  return crawl?.keyedBy ?? setting;
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
    keyedBy: row.keyedBy,
    settings: toSettings(row.settings),
  };
}

/** As `openCrawl`, which alone writes them, stored them: parsed and complete. */
export function toSettings(stored: Prisma.JsonValue): CrawlSettings {
  return stored as unknown as CrawlSettings;
}

/** Whoever takes a crawl up does not know which of its pages still have a workflow: the next sweeps look at all. */
export async function lookAfterAll(db: Database, id: string): Promise<void> {
  await db.$executeRaw`
    UPDATE pages SET check_at = now() WHERE crawl_id = ${id} AND status IN ('Queued', 'Waiting')`;
}

/** Cheaper than the whole record: read before every fetch. */
export async function crawlStatus(db: Database, id: string): Promise<CrawlRecord['status'] | 'unknown'> {
  const [row] = await db.$queryRaw<
    { status: CrawlRecord['status'] }[]
  >`SELECT status::text FROM crawls WHERE id = ${id}`;
  return row?.status ?? 'unknown';
}

/**
 * Pausing is a word in the crawl's row: from then on nothing is admitted, and a page that is granted a slot, or wakes, steps
 * aside. True when the crawl now is as asked; false: it has ended or is being cancelled, or there is none.
 */
export async function setPaused(db: Database, id: string, paused: boolean): Promise<boolean> {
  const { count } = await db.crawl.updateMany({
    where: { id, status: { in: ['Running', 'Paused'] } },
    data: { status: paused ? 'Paused' : 'Running' },
  });
  return count === 1;
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
