/** The environment of benchmarks that run crawls: temporary embedded engines, workers and a client. */
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, Connection } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { type AmbleConfig, loadConfig } from '../src/config/index.ts';
import { startEngines } from '../src/embedded/index.ts';
import { type Database, openDatabase } from '../src/storage/database.ts';
import { readRecords } from '../src/storage/reports/requests.ts';
import { type Proof, prove } from '../src/verify/index.ts';
import { startWorker } from '../src/worker/worker.ts';
import { cancelCrawlUpdate } from '../workflows/messages.ts';
import { type PlainWeb, startPlainWeb } from './plain-web.ts';
import { startWorkerProcess, type WorkerProcess } from './worker-process.ts';

export interface BenchEnvironment {
  config: AmbleConfig;
  address: string;
  client: Client;
  db: Database;
  /**
   * Crawls hosts with these numbers of pages, on the added workers, otherwise on one in this process. `isDone`: the crawl is
   * cancelled as soon as this returns true; unset: it runs to its end.
   */
  crawl(
    crawlId: string,
    pagesOf: readonly number[],
    input: { delay: string; maxPages?: number; concurrency?: number; traps?: { maxPerDirectory: null } },
    isDone?: (web: PlainWeb) => boolean,
  ): Promise<CrawlRun>;
  /** Starts one more worker process. */
  addWorker(): Promise<WorkerProcess>;
}

export interface CrawlRun {
  web: PlainWeb;
  seconds: number;
}

const POLL_INTERVAL_MS = 100;

export const log = (message: string): void => console.error(message);

export async function withEnvironment(work: (environment: BenchEnvironment) => Promise<void>): Promise<void> {
  // Before a worker installs its own: its log would mix with the results.
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const home = await mkdtemp(join(tmpdir(), 'amble-bench-'));
  const engines = await startEngines({ home, isolated: true, notify: log });
  const connection = await Connection.connect({ address: engines.temporal.address });
  const db = openDatabase(engines.databaseUrl);
  const client = new Client({ connection, namespace: engines.temporal.namespace });
  const config = loadConfig({ env: {}, cwd: home, flags: { home } });
  let worker: ReturnType<typeof startWorker> | undefined;
  const workerProcesses: WorkerProcess[] = [];
  try {
    await work({
      config,
      address: engines.temporal.address,
      client,
      db,
      async crawl(crawlId, pagesOf, input, isDone) {
        if (workerProcesses.length === 0) {
          worker ??= startWorker({
            config,
            temporal: engines.temporal,
            databaseUrl: engines.databaseUrl,
            log: pino({ level: 'warn' }, pino.destination(2)),
          });
        }
        await worker;
        const web = await startPlainWeb(crawlId, pagesOf);
        const began = performance.now();
        const handle = await client.workflow.start('Crawl', {
          taskQueue: config.taskQueue,
          workflowId: crawlId,
          args: [{ seeds: web.seeds, resolve: web.resolve, allowNetwork: ['127.0.0.0/8'], ...input }],
        });
        if (isDone !== undefined) {
          while (!isDone(web)) await sleep(POLL_INTERVAL_MS);
          await handle.executeUpdate(cancelCrawlUpdate);
        }
        await handle.result();
        web.stop();
        return { web, seconds: (performance.now() - began) / 1_000 };
      },
      async addWorker() {
        const added = await startWorkerProcess(home);
        workerProcesses.push(added);
        return added;
      },
    });
  } finally {
    await Promise.all(workerProcesses.map((added) => added.stop()));
    await (await worker)?.stop();
    await db.$disconnect();
    await connection.close();
    await engines.stop();
    await rm(home, { recursive: true, force: true });
  }
}

/** What `amble verify` reports of this crawl, or of all crawls if null. */
export function verifyCrawls({ db }: Pick<BenchEnvironment, 'db'>, crawlId: string | null): Promise<Proof> {
  return prove(readRecords(db, crawlId), (request) => crawlId === null || request.crawlId === crawlId);
}
