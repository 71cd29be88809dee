/** Crawls: opened once, ended once, read by everybody. */
import type { CrawlSettings } from '../settings.ts';
import { hostnameOf, type PolitenessUnit, politenessKey, urlHash } from '../urls/index.ts';
import type { Database } from './database.ts';
import { insertPages } from './insert-pages.ts';

export interface CrawlRecord {
  id: string;
  status: 'Running' | 'Paused' | 'Cancelling' | 'Completed' | 'Cancelled' | 'Failed';
  settings: CrawlSettings;
  seeds: string[];
}

/**
 * Opens the crawl with its seeds, or finds it open already: run again it changes nothing, so a crawl whose workflow was
 * lost is taken up where it stood, with the settings it began with.
 */
export async function openCrawl(
  db: Database,
  crawl: { id: string; seeds: string[]; settings: CrawlSettings; keyedBy: PolitenessUnit },
): Promise<CrawlRecord> {
  await db.$transaction(async (tx) => {
    const opened = await tx.$executeRaw`
      INSERT INTO crawls (id, seeds, settings, scope_hosts, max_pages)
      VALUES (${crawl.id}, ${crawl.seeds}, ${JSON.stringify(crawl.settings)}::jsonb,
              ${[...new Set(crawl.seeds.map((url) => hostnameOf(url)))]}, ${crawl.settings.maxPages})
      ON CONFLICT DO NOTHING`;
    if (opened === 0) return;
    await insertPages(tx, {
      crawlId: crawl.id,
      depth: 0,
      hops: 0,
      seed: true,
      foundOn: null,
      pages: crawl.seeds.map((url) => ({
        url,
        hash: urlHash(url),
        domain: politenessKey(url, crawl.keyedBy),
      })),
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
  // Written by openCrawl alone, from a parsed value.
  return {
    id: row.id,
    status: row.status,
    seeds: row.seeds,
    settings: row.settings as unknown as CrawlSettings,
  };
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
