/** The rate of a workflow with one activity, on the server under test. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import type { Bare } from './bare-workflow.ts';
import { inParallel } from './in-parallel.ts';

const TASK_QUEUE = 'bench-bare';
const AT_ONCE = 50;

/** Runs that many bare workflows and returns the seconds they took. */
export type RunBareWorkflows = (workflows: number) => Promise<number>;

/** With a worker of its own for as long as `work` takes: between two measurements it waits, which costs nothing. */
export async function withBareWorker(
  client: Client,
  address: string,
  work: (runBare: RunBareWorkflows) => Promise<void>,
): Promise<void> {
  const connection = await NativeConnection.connect({ address });
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
    await inParallel(AT_ONCE, Array.from({ length: workflows }), async () => {
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
    await connection.close();
  }
}
