/** Counts history events, which are what a Temporal server costs its users. */
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import type { Database } from '../src/storage/database.ts';
import { pageWorkflowId, throttleId } from '../workflows/ids.ts';

export interface EventCounts {
  perPage: number;
  maxPerPage: number;
  throttlePerPage: number;
}

/** Of pages that were fetched at the first attempt and did not fetch robots.txt. */
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
    maxPerPage: Math.max(...counts),
    throttlePerPage: sum(throttles) / requests,
  };
}

async function eventsOfAll(client: Client, workflowIds: readonly string[]): Promise<number[]> {
  return pLimit(10).map(workflowIds, async (workflowId) => {
    const { historyLength } = await client.workflow.getHandle(workflowId).describe();
    return historyLength;
  });
}

function sum(counts: readonly number[]): number {
  return counts.reduce((total, count) => total + count, 0);
}
