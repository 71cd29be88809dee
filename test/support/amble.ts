/** A worker in this process on the engines of the test run, with a database and task queue of its own. */
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { type Logger, pino } from 'pino';
import { inject } from 'vitest';
import { type AmbleConfig, loadConfig, type TuningChanges } from '../../src/config/index.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { connectTemporal } from '../../src/temporal/connection.ts';
import { startWorker, type WorkerSetup } from '../../src/worker/worker.ts';
import type { CrawlResult } from '../../workflows/crawl.ts';
import { freshDatabase, type TestEngines, testEngines } from './engines.ts';

export interface Amble {
  db: Database;
  client: Client;
  config: AmbleConfig;
  databaseUrl: string;
  /** Starts a crawl and returns its handle. */
  start(input: Record<string, unknown>, id?: string): Promise<WorkflowHandle>;
  /** Runs a crawl to its end. */
  crawl(input: Record<string, unknown>, id?: string): Promise<CrawlResult>;
  stop(): Promise<void>;
}

/** Intervals of a crawl that a test can wait for. */
const BRISK = { delay: '50ms', retry: { initialInterval: '200ms' } };
const SWEEP_INTERVAL_MS = 300;

/** Settings by key, and what is not a setting but too slow for a test. */
export interface AmbleOptions {
  tuning?: TuningChanges;
  env?: Record<string, string>;
  [setting: string]: unknown;
}

export async function startAmble(
  { tuning = {}, env = {}, ...flags }: AmbleOptions = {},
  engines: TestEngines = testEngines(),
  log: Logger = pino({ level: 'error' }, pino.destination(2)),
  overrideDeps: WorkerSetup['overrideDeps'] = (deps) => deps,
): Promise<Amble> {
  const { temporalAddress: address, namespace, access } = engines;
  const temporal = { address, namespace, ...(access && { access }) };
  const home = await mkdtemp(join(tmpdir(), 'amble-home-'));
  const database = await freshDatabase();
  const taskQueue = `test-${randomBytes(4).toString('hex')}`;
  const config = loadConfig({
    env,
    cwd: home,
    flags: { taskQueue, ...flags },
    tuning: { ...tuning, crawl: { sweepIntervalMs: SWEEP_INTERVAL_MS, ...tuning.crawl } },
  });
  const worker = await startWorker({
    config,
    temporal,
    databaseUrl: database.url,
    log,
    workflowCode: inject('workflowCode'),
    overrideDeps,
  });
  const db = openDatabase(database.url);
  const connection = await connectTemporal(temporal);
  const client = new Client({ connection, namespace });
  const start: Amble['start'] = (input, id = `crawl-${randomBytes(4).toString('hex')}`) =>
    client.workflow.start('Crawl', { taskQueue, workflowId: id, args: [{ ...BRISK, ...input }] });
  return {
    db,
    client,
    config,
    databaseUrl: database.url,
    start,
    crawl: async (input, id) => (await start(input, id)).result(),
    async stop() {
      await worker.stop();
      await Promise.all([db.$disconnect(), connection.close()]);
      await database.drop();
      await rm(home, { recursive: true, force: true });
    },
  };
}
