/** The environment of benchmarks that run crawls: temporary servers, workers and a client. */
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Client, type WorkflowHandle } from '@temporalio/client';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { pino } from 'pino';
import { type AmbleConfig, loadConfig } from '../src/config/index.ts';
import { type Database, openDatabase } from '../src/storage/database.ts';
import { readRecords } from '../src/storage/reports/requests.ts';
import type { TemporalTarget } from '../src/temporal/access.ts';
import { connectTemporal } from '../src/temporal/connection.ts';
import { type Proof, prove } from '../src/verify/index.ts';
import { startWorker } from '../src/worker/worker.ts';
import { cancelCrawlUpdate } from '../workflows/messages.ts';
import { type PlainWeb, startPlainWeb } from './plain-web.ts';
import { startEmbedded, startProduction } from './servers.ts';
import { startWorkerProcess, type WorkerOptions, type WorkerProcess } from './worker-process.ts';

export interface BenchEnvironment {
  config: AmbleConfig;
  temporal: TemporalTarget;
  databaseUrl: string;
  client: Client;
  db: Database;
  /** Starts a crawl of these seeds on the added workers, otherwise on one in this process. */
  start(crawlId: string, input: CrawlInput): Promise<WorkflowHandle>;
  /**
   * Crawls hosts with these numbers of pages. `isDone`: the crawl is cancelled as soon as this returns true; unset: it runs to its end.
   */
  crawl(
    crawlId: string,
    pagesOf: readonly number[],
    input: Omit<CrawlInput, 'seeds' | 'resolve'>,
    isDone?: (web: PlainWeb) => boolean,
  ): Promise<CrawlRun>;
  /** Starts one more worker process. */
  addWorker(options?: WorkerOptions): Promise<WorkerProcess>;
}

interface CrawlInput {
  seeds: readonly string[];
  resolve: readonly string[];
  delay: string;
  maxPages?: number;
  concurrency?: number;
  traps?: { maxPerDirectory: null };
}

export interface CrawlRun {
  web: PlainWeb;
  seconds: number;
}

const POLL_INTERVAL_MS = 100;

/** Of the installation, as its workers and its crawls find them in its configuration file. */
const SETTINGS = { allowNetwork: ['127.0.0.0/8'], logLevel: 'warn' };

export const log = (message: string): void => console.error(message);

/**
 * `settings`: in addition to those of every benchmark, or instead of them. `production`: with a Temporal server as in production
 * instead of the embedded one. `addressOf`: of the hosts of `crawl`, by their numbers; unset: all are at one.
 */
export async function withEnvironment(
  work: (environment: BenchEnvironment) => Promise<void>,
  settings: Record<string, unknown> = {},
  { production = false, addressOf }: { production?: boolean; addressOf?: (host: number) => string } = {},
): Promise<void> {
  // Before a worker installs its own: its log would mix with the results.
  Runtime.install({ logger: new DefaultLogger('ERROR'), shutdownSignals: [] });
  const home = await mkdtemp(join(tmpdir(), 'amble-bench-'));
  await writeFile(join(home, 'amble.config.json'), JSON.stringify({ ...SETTINGS, ...settings }));
  const engines = await (production ? startProduction(home, log) : startEmbedded(home, log));
  const connection = await connectTemporal(engines.temporal);
  const db = openDatabase(engines.databaseUrl);
  const client = new Client({ connection, namespace: engines.temporal.namespace });
  const config = loadConfig({ env: {}, cwd: home, flags: { home } });
  let worker: ReturnType<typeof startWorker> | undefined;
  const workerProcesses: WorkerProcess[] = [];
  const start: BenchEnvironment['start'] = async (crawlId, input) => {
    if (workerProcesses.length === 0) {
      worker ??= startWorker({
        config,
        temporal: engines.temporal,
        databaseUrl: engines.databaseUrl,
        log: pino({ level: config.logLevel }, pino.destination(2)),
      });
    }
    await worker;
    const { taskQueue } = config;
    return client.workflow.start('Crawl', { taskQueue, workflowId: crawlId, args: [input] });
  };
  try {
    await work({
      config,
      temporal: engines.temporal,
      databaseUrl: engines.databaseUrl,
      client,
      db,
      start,
      async crawl(crawlId, pagesOf, input, isDone) {
        const web = await startPlainWeb(crawlId, pagesOf, addressOf);
        const began = performance.now();
        const handle = await start(crawlId, { seeds: web.seeds, resolve: web.resolve, ...input });
        if (isDone !== undefined) {
          while (!isDone(web)) await sleep(POLL_INTERVAL_MS);
          await handle.executeUpdate(cancelCrawlUpdate, { args: [null] });
        }
        await handle.result();
        web.stop();
        return { web, seconds: (performance.now() - began) / 1_000 };
      },
      async addWorker(options) {
        const added = await startWorkerProcess(home, engines.env, options);
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
