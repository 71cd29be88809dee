/** Measures the rate of a workflow with one activity, on the server under test. */
import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import type { Client } from '@temporalio/client';
import { bundleWorkflowCode, DefaultLogger, NativeConnection, Worker } from '@temporalio/worker';
import type { Bare } from './bare-workflow.ts';
import { inParallel } from './in-parallel.ts';

const TASK_QUEUE = 'bench-bare';
const AT_ONCE = 50;

/** Workflows a second. */
export async function bareRate(client: Client, address: string, workflows: number): Promise<number> {
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
  const run = async (): Promise<number> => {
    await runMany(client, 4 * AT_ONCE);
    const began = performance.now();
    await runMany(client, workflows);
    return workflows / ((performance.now() - began) / 1_000);
  };
  try {
    return await worker.runUntil(run());
  } finally {
    await connection.close();
  }
}

async function runMany(client: Client, workflows: number): Promise<void> {
  await inParallel(AT_ONCE, Array.from({ length: workflows }), async () => {
    await client.workflow.execute<typeof Bare>('Bare', {
      taskQueue: TASK_QUEUE,
      workflowId: `bare-${randomUUID()}`,
    });
  });
}
