/** What every benchmark of whole crawls needs: engines of its own, a worker, a client, and nothing left behind. */
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
   * Starts a worker in this process, if none runs yet: what is measured before that has the machine for itself. `isEnough`: the
   * crawl is cancelled as soon as its web has seen that; unset: it runs to its end.
   */
  crawl(
    crawlId: string,
    pagesOf: readonly number[],
    input: { delay: string; maxPages?: number; concurrency?: number; traps?: { maxPerDirectory: null } },
    isEnough?: (web: PlainWeb) => boolean,
  ): Promise<CrawlRun>;
  /** One more worker process; where there is one, this process only looks on. */
  addWorker(): Promise<WorkerProcess>;
}

export interface CrawlRun {
  web: PlainWeb;
  seconds: number;
}

const LOOK_EVERY_MS = 100;

export const log = (line: string): void => console.error(line);

export async function withEnvironment(work: (lab: BenchEnvironment) => Promise<void>): Promise<void> {
  // Before anybody's worker does: its coming and going is no result.
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const home = await mkdtemp(join(tmpdir(), 'amble-bench-'));
  const engines = await startEngines({ home, isolated: true, notify: log });
  const connection = await Connection.connect({ address: engines.temporal.address });
  const db = openDatabase(engines.databaseUrl);
  const client = new Client({ connection, namespace: engines.temporal.namespace });
  const config = loadConfig({ env: {}, cwd: home, flags: { home } });
  let worker: ReturnType<typeof startWorker> | undefined;
  const others: WorkerProcess[] = [];
  try {
    await work({
      config,
      address: engines.temporal.address,
      client,
      db,
      async crawl(crawlId, pagesOf, input, isEnough) {
        if (others.length === 0) {
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
        if (isEnough !== undefined) {
          while (!isEnough(web)) await sleep(LOOK_EVERY_MS);
          await handle.executeUpdate(cancelCrawlUpdate);
        }
        await handle.result();
        web.stop();
        return { web, seconds: (performance.now() - began) / 1_000 };
      },
      async addWorker() {
        const added = await startWorkerProcess(home);
        others.push(added);
        return added;
      },
    });
  } finally {
    await Promise.all(others.map((other) => other.stop()));
    await (await worker)?.stop();
    await db.$disconnect();
    await connection.close();
    await engines.stop();
    await rm(home, { recursive: true, force: true });
  }
}
