/** The workers that are there to work on crawls. */
import { hostname } from 'node:os';
import type { Client } from '@temporalio/client';
import type { AmbleConfig } from '../config/index.ts';
import { processExists } from '../embedded/process-table.ts';

/** `TASK_QUEUE_TYPE_WORKFLOW` of the server's protocol. */
const WORKFLOW_TASKS = 1;

/** A worker polls at least once a minute: the server lets no poll wait longer. */
const POLLED_WITHIN_MS = 70_000;

export async function hasWorker(client: Client, config: AmbleConfig): Promise<boolean> {
  return (await countWorkers(client, config)) > 0;
}

/** Worker processes. Those that were killed on another machine count for a minute more. */
export async function countWorkers(client: Client, config: AmbleConfig): Promise<number> {
  const { pollers } = await client.workflowService.describeTaskQueue({
    namespace: client.options.namespace,
    taskQueue: { name: config.taskQueue },
    taskQueueType: WORKFLOW_TASKS,
  });
  const now = Date.now();
  const recent = (pollers ?? []).filter(
    ({ lastAccessTime }) => now - Number(lastAccessTime?.seconds ?? 0) * 1_000 < POLLED_WITHIN_MS,
  );
  const identities = [...new Set(recent.map(({ identity }) => identity ?? ''))];
  const dead = await Promise.all(identities.map(isKnownDead));
  return dead.filter((isDead) => !isDead).length;
}

/** The server lists a killed worker for minutes. One on this machine, `pid@host`, can be looked up. */
async function isKnownDead(identity: string): Promise<boolean> {
  const [pid, host] = identity.split('@');
  return host === hostname() && /^\d+$/.test(pid ?? '') && !(await processExists(Number(pid)));
}
