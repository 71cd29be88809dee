/** Measures the rate of workflows with one activity, on the server under test. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, Worker } from '@temporalio/worker';
import pLimit from 'p-limit';
import type { TemporalTarget } from '../src/temporal/access.ts';
import { connectWorker } from '../src/worker/native-connection.ts';
import type { Bare } from './bare-workflow.ts';

const TASK_QUEUE = 'bench-bare';
const CONCURRENCY = 50;

/** Runs this many workflows and returns the seconds they took. */
export type RunBareWorkflows = (workflows: number) => Promise<number>;

/** Runs a worker of its own while `work` runs. Between measurements it is idle, which costs nothing. */
export async function withBareWorker(
  client: Client,
  temporal: TemporalTarget,
  work: (runBare: RunBareWorkflows) => Promise<void>,
): Promise<void> {
  const { connection, close } = await connectWorker(temporal);
  const worker = await Worker.create({
    connection,
    namespace: client.options.namespace,
    taskQueue: TASK_QUEUE,
    activities: { nothing: async () => {} },
    workflowBundle: await bundleWorkflowCode({
      workflowsPath: fileURLToPath(new URL('./bare-workflow.js', import.meta.url)),
      logger: new DefaultLogger('WARN'),
    }),
  });
  const runBare: RunBareWorkflows = async (workflows) => {
    const began = performance.now();
    await pLimit(CONCURRENCY).map(Array.from({ length: workflows }), async () => {
      await client.workflow.execute<typeof Bare>('Bare', {
        taskQueue: TASK_QUEUE,
        workflowId: `bare-${randomUUID()}`,
      });
    });
    return (performance.now() - began) / 1_000;
  };
  try {
    await worker.runUntil(work(runBare));
  } finally {
    await close();
  }
}
