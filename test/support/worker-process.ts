/** A worker process of the build on the engines of the test run, for what must not happen to the test's own process. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, Connection } from '@temporalio/client';
import { type AmbleConfig, loadConfig, type TuningChanges } from '../../src/config/index.ts';
import { packageRoot } from '../../src/core/package-root.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import type { CrawlResult } from '../../workflows/crawl.ts';
import { cleanEnvironment, type RunningProgram, startProgram, tuningVariable } from '../e2e/support.ts';
import { freshDatabase, testEngines } from './engines.ts';

export interface AmbleProcess {
  config: AmbleConfig;
  db: Database;
  client: Client;
  worker: RunningProgram;
  databasePassword: string;
  /** Runs a crawl to its end; rejects at once if the worker ends before it. */
  crawl(input: Record<string, unknown>): Promise<CrawlResult>;
  /** Starts one more worker of the same installation. */
  startAnother(): Promise<RunningProgram>;
  stop(): Promise<void>;
}

export async function startAmbleProcess({
  settings = {},
  tuning = {},
  env,
}: {
  settings?: Record<string, unknown>;
  tuning?: TuningChanges;
  env: Record<string, string>;
}): Promise<AmbleProcess> {
  const { temporalAddress: address, namespace } = testEngines();
  const home = await mkdtemp(join(tmpdir(), 'amble-process-'));
  const database = await freshDatabase();
  const taskQueue = `test-${randomBytes(4).toString('hex')}`;
  await writeFile(join(home, 'amble.config.json'), JSON.stringify(settings));
  const variables = {
    ...cleanEnvironment(),
    ...tuningVariable(tuning),
    TEMPORAL_ADDRESS: address,
    TEMPORAL_NAMESPACE: namespace,
    DATABASE_URL: database.url,
    AMBLE_TASK_QUEUE: taskQueue,
    ...env,
  };
  const program = join(packageRoot, 'dist', 'src', 'cli.js');
  const workers: RunningProgram[] = [];
  const startOne = async (): Promise<RunningProgram> => {
    const started = startProgram(process.execPath, [program, 'worker', '--home', home], {
      cwd: home,
      env: variables,
    });
    workers.push(started);
    await started.waitForStderr(/Worker ready/);
    return started;
  };
  const db = openDatabase(database.url);
  const connection = await Connection.connect({ address });
  const client = new Client({ connection, namespace });
  const worker = await startOne();
  const died = worker.ended.then(({ code, stderr }): never => {
    throw new Error(`The worker ended with ${code}:\n${stderr.slice(-2_000)}`);
  });
  // Handled only while a crawl waits.
  died.catch(() => {});
  return {
    config: loadConfig({ env: variables, cwd: home }),
    db,
    client,
    worker,
    databasePassword: new URL(database.url).password,
    async crawl(input) {
      const workflowId = `crawl-${randomBytes(4).toString('hex')}`;
      const handle = await client.workflow.start('Crawl', { taskQueue, workflowId, args: [input] });
      return Promise.race([handle.result(), died]);
    },
    startAnother: startOne,
    async stop() {
      for (const one of workers) one.kill('SIGKILL');
      await Promise.all(workers.map(({ ended }) => ended));
      await Promise.all([db.$disconnect(), connection.close()]);
      await database.drop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
