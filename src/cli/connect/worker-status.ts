/**
 * Whether crawls are being worked on. A row says only that a crawl has not ended: its processes may all be dead, or its
 * workflow may be lost or terminated while workers run.
 */
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { AmbleConfig } from '../../config/index.ts';
import { processExists } from '../../embedded/process-table.ts';
import { joinTemporal, workflowStatus } from './temporal-client.ts';

/** `reason` is a clause, as in "It is stalled: no worker is running". */
export type WorkStatus = { active: true } | { active: false; reason: string };

/** `TASK_QUEUE_TYPE_WORKFLOW` of the server's protocol. */
const WORKFLOW_TASKS = 1;

/** A worker polls at least once a minute: the server lets no poll wait longer. */
const POLLED_WITHIN_MS = 70_000;

/** By crawl id. None of the crawls may have ended. */
export async function readWorkStatus(
  config: AmbleConfig,
  crawlIds: readonly string[],
): Promise<ReadonlyMap<string, WorkStatus>> {
  if (crawlIds.length === 0) return new Map();
  const temporal = await joinTemporal(config);
  if (temporal === null)
    return new Map(crawlIds.map((id) => [id, inactive('no Temporal server is running')]));
  const { client } = temporal;
  try {
    const workers = (await hasWorker(client, config))
      ? { active: true as const }
      : inactive('no worker is running');
    const statuses = crawlIds.map(
      async (id) => [id, (await missingWorkflow(client, id)) ?? workers] as const,
    );
    return new Map(await Promise.all(statuses));
  } finally {
    await temporal.close();
  }
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

async function hasWorker(client: Client, config: AmbleConfig): Promise<boolean> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: config.temporalNamespace,
    taskQueue: { name: config.taskQueue },
    taskQueueType: WORKFLOW_TASKS,
  });
  const now = Date.now();
  const recent = (pollers ?? []).filter(
    ({ lastAccessTime }) => now - Number(lastAccessTime?.seconds ?? 0) * 1_000 < POLLED_WITHIN_MS,
  );
  const dead = await Promise.all(recent.map(({ identity }) => isKnownDead(identity ?? '')));
  return dead.includes(false);
}

/** The server lists a killed worker for minutes. One on this machine, `pid@host`, can be looked up. */
async function isKnownDead(identity: string): Promise<boolean> {
  const [pid, host] = identity.split('@');
  return host === hostname() && /^\d+$/.test(pid ?? '') && !(await processExists(Number(pid)));
}
