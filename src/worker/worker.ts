/**
 * One worker process: three Temporal workers, one for each task queue, around one set of shared parts. See the queues in
 * workflows/ids.ts for why they are apart.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { IllegalStateError } from '@temporalio/common';
import { NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { type Deps, makeActivities } from '../../activities/index.ts';
import { stepQueue, throttleQueue } from '../../workflows/ids.ts';
import type { AmbleConfig } from '../config/index.ts';
import { makeParser } from '../html/index.ts';
import { createAgentPool } from '../http/index.ts';
import { createRobotsRulesCache } from '../robots/index.ts';
import { readCrawl } from '../storage/crawls.ts';
import { openDatabase } from '../storage/database.ts';
import { openContentStore } from './content-store.ts';
import { type DependencyHealth, watchDependencies } from './dependency-health.ts';
import { watchEventLoopLag } from './event-loop-lag.ts';
import { heartbeats } from './heartbeats.ts';
import { LocalRequestStarts } from './local-request-starts.ts';
import { ServerClock } from './server-clock.ts';
import { connectTemporal } from './temporal-connection.ts';
import { createTemporalLogger } from './temporal-logger.ts';

export interface WorkerSetup {
  config: AmbleConfig;
  temporal: { address: string; namespace: string };
  databaseUrl: string;
  log: Logger;
  /** Serves throttles alone: to steer a domain is no reason to crawl. */
  onlyThrottles?: boolean;
  /** File with the workflows' code; unset: the one of the build. */
  workflowCode?: string;
  /** Puts another part in the place of one that activities work with: a test's own store, client or watch. */
  parts?: (own: Deps) => Deps;
}

export interface RunningWorker {
  /** Takes no new work, lets what is under way finish while there is time, then closes everything. */
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
const CACHED_PAGES = 200;
const CACHED_THROTTLES = 100;

/**
 * A throttle whose history cannot be replayed ends, and the next ask begins another, which trusts nothing and keeps the gap:
 * otherwise its domain would stand still until somebody noticed.
 */
const ENDED_BY = { '*': [], DomainThrottle: ['NondeterminismError'] };

/**
 * How the time to stop is shared out. What is under way may finish for most of it; then it is cancelled, which sends a fetch
 * back to its page, and at last left behind. The throttles come after that, because all of it ends by telling them.
 */
const STOPPING = {
  others: { shutdownGraceTime: 0.6, shutdownForceTime: 0.8 },
  throttles: { shutdownGraceTime: 0.05, shutdownForceTime: 0.1 },
} as const;

const CRAWLS_CACHED = 100;

const BUILT_WORKFLOWS = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));

export async function startWorker({
  config,
  temporal,
  databaseUrl,
  log,
  onlyThrottles = false,
  workflowCode = BUILT_WORKFLOWS,
  parts = (own) => own,
}: WorkerSetup): Promise<RunningWorker> {
  const clientConnection = await connectTemporal(temporal.address);
  const db = openDatabase(databaseUrl);
  const store = openContentStore(config.contentDir);
  const outages = watchDependencies({ connection: clientConnection, db, store, log });
  installRuntime(log, outages);
  const connection = await NativeConnection.connect({ address: temporal.address });
  const agents = createAgentPool();
  const lag = watchEventLoopLag();
  const crawls = new LRUCache<string, Awaited<ReturnType<Deps['crawlOf']>>>({
    max: CRAWLS_CACHED,
    fetchMethod: (crawlId) => readCrawl(db, crawlId),
    // A crawl evicted while it is read is still what its caller asked for.
    ignoreFetchAbort: true,
  });
  const own: Deps = {
    config,
    db,
    client: new Client({ connection: clientConnection, namespace: temporal.namespace }),
    store,
    agents,
    robotsRules: createRobotsRulesCache(),
    clock: new ServerClock(),
    starts: new LocalRequestStarts(),
    lag,
    parse: makeParser({ longestParseMs: config.parseTimeoutMs }),
    log,
    dependencies: outages,
    crawlOf: (crawlId) => crawls.forceFetch(crawlId),
  };
  const activities = makeActivities(parts(own));
  const { stopWithinMs } = config;
  const shared = (parts: { shutdownGraceTime: number; shutdownForceTime: number }) => ({
    connection,
    namespace: temporal.namespace,
    interceptors: { activity: [heartbeats] },
    shutdownGraceTime: parts.shutdownGraceTime * stopWithinMs,
    shutdownForceTime: parts.shutdownForceTime * stopWithinMs,
  });
  const options: WorkerOptions[] = [
    {
      ...shared(STOPPING.others),
      workflowBundle: { codePath: workflowCode },
      taskQueue: config.taskQueue,
      // The steps too, which pages run within their own tasks.
      activities: { ...activities.fetches, ...activities.steps },
      maxConcurrentActivityTaskExecutions: config.fetchSlots,
      maxConcurrentWorkflowTaskExecutions: PAGE_TASKS,
      maxConcurrentLocalActivityExecutions: PAGE_TASKS,
      maxCachedWorkflows: CACHED_PAGES,
    },
    {
      ...shared(STOPPING.others),
      taskQueue: stepQueue(config.taskQueue),
      activities: activities.steps,
    },
    {
      ...shared(STOPPING.throttles),
      workflowBundle: { codePath: workflowCode },
      taskQueue: throttleQueue(config.taskQueue),
      activities: activities.throttles,
      maxCachedWorkflows: CACHED_THROTTLES,
      workflowFailureErrorTypes: ENDED_BY,
    },
  ];
  const wanted = onlyThrottles ? options.slice(-1) : options;
  const workers = await Promise.all(wanted.map((one) => Worker.create(one)));
  const running = workers.map((worker) => ({ worker, ended: worker.run() }));
  return {
    failed: Promise.all(running.map(({ ended }) => ended)).then(() => new Promise<never>(() => {})),
    async stop() {
      await Promise.race([stopInOrder(), sleep(stopWithinMs)]);
    },
  };

  async function stopInOrder(): Promise<void> {
    // The throttles are the last: pages and fetches end by asking and telling them.
    await drain(running.slice(0, -1));
    await drain(running);
    lag.stop();
    outages.stop();
    await agents.destroy();
    await Promise.all([db.$disconnect(), clientConnection.close(), connection.close()]);
  }
}

interface Running {
  worker: Worker;
  ended: Promise<void>;
}

async function drain(running: readonly Running[]): Promise<void> {
  for (const { worker } of running) if (worker.getState() === 'RUNNING') worker.shutdown();
  await Promise.allSettled(running.map(({ ended }) => ended));
}

/**
 * The SDK's own log lines go where ours go, unless this process has set its runtime up already. Those of its core, too, which
 * would otherwise be written to standard output.
 */
function installRuntime(log: Logger, outages: DependencyHealth): void {
  try {
    Runtime.install({
      logger: createTemporalLogger(log, outages),
      telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
      shutdownSignals: [],
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
