/** Whether anybody works on the crawls. A row says only that a crawl has not ended; its processes may all be dead. */
import { hostname } from 'node:os';
import type { AmbleConfig } from '../config/index.ts';
import { processExists } from '../engines/process-table.ts';
import { joinTemporal } from './join-temporal.ts';

export type AtWork = { working: true } | { working: false; because: string };

/** `TASK_QUEUE_TYPE_WORKFLOW` of the server's protocol. */
const WORKFLOW_TASKS = 1;

/** A worker asks for work once a minute at least: that is as long as the server lets one ask wait. */
const ASKS_WITHIN_MS = 70_000;

export async function whoIsAtWork(config: AmbleConfig): Promise<AtWork> {
  const temporal = await joinTemporal(config);
  if (temporal === null) return { working: false, because: 'no Temporal server runs' };
  try {
    const { pollers } = await temporal.client.workflowService.describeTaskQueue({
      namespace: config.temporalNamespace,
      taskQueue: { name: config.taskQueue },
      taskQueueType: WORKFLOW_TASKS,
    });
    const now = Date.now();
    const recent = (pollers ?? []).filter(
      ({ lastAccessTime }) => now - Number(lastAccessTime?.seconds ?? 0) * 1_000 < ASKS_WITHIN_MS,
    );
    const dead = await Promise.all(recent.map(({ identity }) => isKnownDead(identity ?? '')));
    return dead.includes(false) ? { working: true } : { working: false, because: 'no worker runs' };
  } finally {
    await temporal.close();
  }
}

/** The server remembers a killed worker for minutes; one of this machine, `pid@host`, can be looked up. */
async function isKnownDead(identity: string): Promise<boolean> {
  const [pid, host] = identity.split('@');
  return host === hostname() && /^\d+$/.test(pid ?? '') && !(await processExists(Number(pid)));
}
