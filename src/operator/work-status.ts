/**
 * Whether a crawl is being worked on. A row says only that a crawl has not ended: its processes may all be dead, or its
 * workflow may be lost or terminated while workers run.
 */
import type { Client } from '@temporalio/client';
import type { AmbleConfig } from '../config/index.ts';
import { hasWorker } from './has-worker.ts';
import { workflowStatus } from './query-workflow.ts';

/** `reason` is a clause, as in "It is stalled: no worker is running". */
export type WorkStatus = { active: true } | { active: false; reason: string };

/** By crawl id. None of the crawls may have ended. `client` null: no Temporal server answers. */
export async function workStatusOf(
  client: Client | null,
  config: AmbleConfig,
  crawlIds: readonly string[],
): Promise<ReadonlyMap<string, WorkStatus>> {
  if (crawlIds.length === 0) return new Map();
  if (client === null) {
    const { temporalAddress: address } = config;
    // The embedded one is started and found by its home, and has no address that a user would know.
    const reason =
      address === null
        ? 'no Temporal server is running'
        : `the Temporal server at ${address} does not answer`;
    return new Map(crawlIds.map((id) => [id, inactive(reason)]));
  }
  const workers = (await hasWorker(client, config))
    ? { active: true as const }
    : inactive('no worker is running');
  const statuses = crawlIds.map(async (id) => [id, (await missingWorkflow(client, id)) ?? workers] as const);
  return new Map(await Promise.all(statuses));
}

function inactive(reason: string): WorkStatus {
  return { active: false, reason };
}

/** null: the crawl's workflow is running. */
async function missingWorkflow(client: Client, crawlId: string): Promise<WorkStatus | null> {
  const status = await workflowStatus(client, crawlId);
  if (status === 'RUNNING') return null;
  return status === null
    ? inactive('the Temporal server has no workflow for it')
    : inactive(`its workflow is ${status.toLowerCase().replaceAll('_', ' ')}`);
}
