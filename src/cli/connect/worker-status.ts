/**
 * Whether anybody works on the crawls. A row says only that a crawl has not ended: its processes may all be dead, and those
 * that live know nothing of it where its workflow was lost or terminated.
 */
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { AmbleConfig } from '../../config/index.ts';
import { processExists } from '../../embedded/process-table.ts';
import { joinTemporal } from './join-temporal.ts';
import { workflowStatus } from './workflow-status.ts';

export type AtWork = { working: true } | { working: false; because: string };

/** `TASK_QUEUE_TYPE_WORKFLOW` of the server's protocol. */
const WORKFLOW_TASKS = 1;

/** A worker asks for work once a minute at least: that is as long as the server lets one ask wait. */
const ASKS_WITHIN_MS = 70_000;

const WORKING: AtWork = { working: true };

/** Of these crawls, none of which has ended, by id. */
export async function whoIsAtWork(
  config: AmbleConfig,
  crawlIds: readonly string[],
): Promise<ReadonlyMap<string, AtWork>> {
  if (crawlIds.length === 0) return new Map();
  const temporal = await joinTemporal(config);
  if (temporal === null) return new Map(crawlIds.map((id) => [id, nobody('no Temporal server runs')]));
  const { client } = temporal;
  try {
    const workers = (await anybodyPolls(client, config)) ? WORKING : nobody('no worker runs');
    const each = crawlIds.map(async (id) => [id, (await notCarried(client, id)) ?? workers] as const);
    return new Map(await Promise.all(each));
  } finally {
    await temporal.close();
  }
}

function nobody(because: string): AtWork {
  return { working: false, because };
}

/** null: a workflow of this crawl runs. */
async function notCarried(client: Client, crawlId: string): Promise<AtWork | null> {
  const status = await workflowStatus(client, crawlId);
  if (status === 'RUNNING') return null;
  return status === null
    ? nobody('the Temporal server knows nothing of it')
    : nobody(`its workflow does not run (${status.toLowerCase().replaceAll('_', ' ')})`);
}

async function anybodyPolls(client: Client, config: AmbleConfig): Promise<boolean> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: config.temporalNamespace,
    taskQueue: { name: config.taskQueue },
    taskQueueType: WORKFLOW_TASKS,
  });
  const now = Date.now();
  const recent = (pollers ?? []).filter(
    ({ lastAccessTime }) => now - Number(lastAccessTime?.seconds ?? 0) * 1_000 < ASKS_WITHIN_MS,
  );
  const dead = await Promise.all(recent.map(({ identity }) => isKnownDead(identity ?? '')));
  return dead.includes(false);
}

/** The server remembers a killed worker for minutes; one of this machine, `pid@host`, can be looked up. */
async function isKnownDead(identity: string): Promise<boolean> {
  const [pid, host] = identity.split('@');
  return host === hostname() && /^\d+$/.test(pid ?? '') && !(await processExists(Number(pid)));
}
