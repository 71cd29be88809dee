/** History events: the cost that users of a Temporal server pay. */
import type { Client } from '@temporalio/client';
import type { Database } from '../src/storage/database.ts';
import { pageWorkflowId, throttleId } from '../workflows/ids.ts';
import { inParallel } from './in-parallel.ts';

export interface EventCounts {
  perPage: number;
  /** The page with the most. */
  mostPerPage: number;
  throttlePerPage: number;
}

/** Over pages that were fetched at their first attempt and spent no slot on robots.txt. */
export async function countEvents(client: Client, db: Database, crawlId: string): Promise<EventCounts> {
  const pages = await db.$queryRaw<{ url: string; url_hash: Uint8Array }[]>`
    SELECT url, url_hash FROM pages p WHERE crawl_id = ${crawlId} AND status = 'Fetched' AND attempts = 1
      AND NOT EXISTS (SELECT 1 FROM requests r WHERE r.page_id = p.id AND r.purpose = 'robots')`;
  const ids = pages.map(({ url, url_hash }) =>
    pageWorkflowId(crawlId, { url, urlHash: Buffer.from(url_hash).toString('hex') }),
  );
  const domains = await db.crawlDomain.findMany({ where: { crawlId } });
  const counts = await eventsOfAll(client, ids);
  const throttles = await eventsOfAll(
    client,
    domains.map(({ domain }) => throttleId(domain)),
  );
  const requests = await db.request.count({ where: { crawlId } });
  return {
    perPage: sum(counts) / counts.length,
    mostPerPage: Math.max(...counts),
    throttlePerPage: sum(throttles) / requests,
  };
}

async function eventsOfAll(client: Client, workflowIds: readonly string[]): Promise<number[]> {
  const counts: number[] = [];
  await inParallel(10, workflowIds, async (workflowId) => {
    const { historyLength } = await client.workflow.getHandle(workflowId).describe();
    counts.push(historyLength);
  });
  return counts;
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
