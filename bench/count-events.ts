/** Counts history events and workflow tasks, which are what a Temporal server costs its users. */
import type { Client } from '@temporalio/client';
import pLimit from 'p-limit';
import type { Database } from '../src/storage/database.ts';
import { pageWorkflowId, throttleId } from '../workflows/ids.ts';

export interface EventCounts {
  perPage: number;
  maxPerPage: number;
  throttlePerPage: number;
  /** Workflow tasks. */
  tasksPerPage: number;
  throttleTasksPerPage: number;
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
  const histories = await countAll(client, ids);
  const throttles = await countAll(
    client,
    domains.map(({ domain }) => throttleId(domain)),
  );
  const requests = await db.request.count({ where: { crawlId } });
  return {
    perPage: sum(histories, 'events') / ids.length,
    maxPerPage: Math.max(...histories.map(({ events }) => events)),
    throttlePerPage: sum(throttles, 'events') / requests,
    tasksPerPage: sum(histories, 'tasks') / ids.length,
    throttleTasksPerPage: sum(throttles, 'tasks') / requests,
  };
}

interface HistoryCounts {
  events: number;
  tasks: number;
}

async function countAll(client: Client, workflowIds: readonly string[]): Promise<HistoryCounts[]> {
  return pLimit(10).map(workflowIds, async (workflowId) => {
    const { events } = await client.workflow.getHandle(workflowId).fetchHistory();
    const tasks = events?.filter((event) => event.workflowTaskCompletedEventAttributes) ?? [];
    return { events: events?.length ?? 0, tasks: tasks.length };
  });
}

function sum(counts: readonly HistoryCounts[], what: keyof HistoryCounts): number {
  return counts.reduce((total, count) => total + count[what], 0);
}
