/**
 * One worker process: three Temporal workers, one for each task queue, around one set of shared parts. See the queues in
 * workflows/ids.ts for why they are apart.
 */
import { existsSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { Client, Connection } from '@temporalio/client';
import { IllegalStateError } from '@temporalio/common';
import {
  bundleWorkflowCode,
  DefaultLogger,
  NativeConnection,
  Runtime,
  Worker,
  type WorkerOptions,
} from '@temporalio/worker';
import type { Logger } from 'pino';
import { makeActivities } from '../activities/index.ts';
import { fetchQueue, throttleQueue } from '../workflows/ids.ts';
import type { AmbleConfig } from './config/index.ts';
import { openContentStore } from './content-store.ts';
import { makeParser } from './html/index.ts';
import { makeAgentPool } from './http/index.ts';
import { watchLoopLag } from './loop-lag.ts';
import { remember } from './remember.ts';
import { ServerClock } from './server-clock.ts';
import { readCrawl } from './storage/crawls.ts';
import { openDatabase } from './storage/database.ts';
import { temporalLogger } from './temporal-logger.ts';

export interface WorkerSetup {
  config: AmbleConfig;
  temporal: { address: string; namespace: string };
  databaseUrl: string;
  log: Logger;
}

export interface RunningWorker {
  /** Takes no new work, lets what is under way finish, then closes everything. */
  stop(): Promise<void>;
  /** Rejects when the worker cannot go on. */
  failed: Promise<never>;
}

/**
 * An ask holds its page's workflow task until the throttle has answered: a hundred pages that begin together must not keep
 * the pages of other domains from theirs.
 */
const PAGE_TASKS = 200;

/** About 0.3 MB each; a page that waits for long is evicted and replayed when its grant comes. */
const CACHED_PAGES = 400;
const CACHED_THROTTLES = 200;

/** What is under way may finish for so long; then it is cancelled, and at last left behind. */
const STOPPING = { shutdownGraceTime: '10s', shutdownForceTime: '20s' } as const;

const CRAWLS_REMEMBERED = 100;

export async function startWorker({
  config,
  temporal,
  databaseUrl,
  log,
}: WorkerSetup): Promise<RunningWorker> {
  installRuntime(log);
  const connection = await NativeConnection.connect({ address: temporal.address });
  const clientConnection = await Connection.connect({ address: temporal.address });
  const db = openDatabase(databaseUrl);
  const agents = makeAgentPool();
  const lag = watchLoopLag();
  const activities = makeActivities({
    config,
    db,
    client: new Client({ connection: clientConnection, namespace: temporal.namespace }),
    store: openContentStore(config.contentDir),
    agents,
    clock: new ServerClock(),
    lag,
    parse: makeParser(),
    log,
    crawlOf: remember(CRAWLS_REMEMBERED, (crawlId) => readCrawl(db, crawlId)),
  });
  const shared = { connection, namespace: temporal.namespace, ...STOPPING } as const;
  const workers = await Promise.all([
    Worker.create({
      ...shared,
      ...(await workflows()),
      taskQueue: config.taskQueue,
      activities: activities.pages,
      maxConcurrentWorkflowTaskExecutions: PAGE_TASKS,
      maxConcurrentLocalActivityExecutions: PAGE_TASKS,
      maxCachedWorkflows: CACHED_PAGES,
    }),
    Worker.create({
      ...shared,
      taskQueue: fetchQueue(config.taskQueue),
      activities: activities.fetches,
      maxConcurrentActivityTaskExecutions: config.fetchSlots,
    }),
    Worker.create({
      ...shared,
      ...(await workflows()),
      taskQueue: throttleQueue(config.taskQueue),
      activities: activities.throttles,
      maxCachedWorkflows: CACHED_THROTTLES,
    }),
  ]);
  const running = workers.map((worker) => ({ worker, ended: worker.run() }));
  return {
    failed: Promise.all(running.map(({ ended }) => ended)).then(() => new Promise<never>(() => {})),
    async stop() {
      // The throttles are the last: pages and fetches end by asking and telling them.
      const [pages, fetches, throttles] = running;
      await drain([pages, fetches]);
      await drain([throttles]);
      lag.stop();
      await agents.destroy();
      await Promise.all([db.$disconnect(), clientConnection.close(), connection.close()]);
    },
  };
}

interface Running {
  worker: Worker;
  ended: Promise<void>;
}

async function drain(running: readonly (Running | undefined)[]): Promise<void> {
  for (const one of running) if (one?.worker.getState() === 'RUNNING') one.worker.shutdown();
  await Promise.allSettled(running.map((one) => one?.ended));
}

type Workflows = NonNullable<WorkerOptions['workflowBundle']>;

let bundled: Promise<Workflows> | undefined;

/** The bundle of the build; where there is none (tests run from sources) it is made once in a process. */
async function workflows(): Promise<{ workflowBundle: Workflows }> {
  const codePath = fileURLToPath(new URL('../workflow-bundle.js', import.meta.url));
  if (existsSync(codePath)) return { workflowBundle: { codePath } };
  bundled ??= bundleWorkflowCode({
    workflowsPath: fileURLToPath(new URL('../workflows/index.ts', import.meta.url)),
    logger: new DefaultLogger('WARN'),
  });
  return { workflowBundle: await bundled };
}

/** The SDK's own log lines go where ours go, unless this process has set its runtime up already. */
function installRuntime(log: Logger): void {
  try {
    Runtime.install({ logger: temporalLogger(log), shutdownSignals: [] });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
