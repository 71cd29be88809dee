/**
 * One worker process: three Temporal workers, one for each task queue, that share their dependencies. workflows/ids.ts says
 * why there are three queues.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { IllegalStateError } from '@temporalio/common';
import { NativeConnection, Runtime, Worker, type WorkerOptions } from '@temporalio/worker';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { createActivities, type Deps } from '../../activities/index.ts';
import { HeldReports } from '../../activities/slot/held-reports.ts';
import { sendReleases } from '../../activities/slot/throttle-client.ts';
import { stepQueue, throttleQueue } from '../../workflows/ids.ts';
import type { AmbleConfig } from '../config/index.ts';
import { createParser } from '../html/index.ts';
import { BodyMemory, createAgentPool } from '../http/index.ts';
import { createRobotsRulesCache } from '../robots/index.ts';
import { type CrawlRecord, readCrawl } from '../storage/crawls.ts';
import { openDatabase } from '../storage/database.ts';
import { AddressLimiter } from './address-limiter.ts';
import { openContentStore } from './content-store.ts';
import { type DependencyHealth, watchDependencies } from './dependency-health.ts';
import { watchEventLoopLag } from './event-loop-lag.ts';
import { FetchSlots, MAX_WAITING } from './fetch-slots.ts';
import { GateWaits } from './gate-waits.ts';
import { heartbeats } from './heartbeats.ts';
import { withRecentBodies } from './recent-bodies.ts';
import { connectTemporal } from './temporal-connection.ts';
import { createTemporalLogger } from './temporal-logger.ts';

export interface WorkerSetup {
  config: AmbleConfig;
  temporal: { address: string; namespace: string };
  databaseUrl: string;
  log: Logger;
  /** Run throttles only, for commands that change a domain and must not crawl. */
  onlyThrottles?: boolean;
  /** Path of the workflow bundle; unset: the one from the build. */
  workflowCode?: string;
  /** Replaces dependencies of the activities in tests. */
  overrideDeps?: (deps: Deps) => Deps;
}

export interface RunningWorker {
  /** Takes no new tasks, lets running ones finish while there is time, then closes everything. */
  stop(): Promise<void>;
  /** Rejects if the worker cannot continue. */
  failed: Promise<never>;
}

/**
 * A request for a slot occupies its page's workflow task until the throttle answers. A hundred pages of one domain that start
 * together must not block the pages of other domains.
 */
const MAX_PAGE_TASKS = 200;

/** About 0.3 MB each. A page that waits for long is evicted, and replayed when its slot is granted. */
const MAX_CACHED_PAGES = 200;
const MAX_CACHED_THROTTLES = 100;

/**
 * A throttle whose history cannot be replayed fails, and the next request for a slot starts a new one, which waits a full gap
 * first. Otherwise its domain would be stuck until someone noticed.
 */
const FAILS_WORKFLOW = { '*': [], DomainThrottle: ['NondeterminismError'] };

/**
 * Shares of the time to stop. Running tasks may finish during most of it; then they are cancelled, which returns a fetch to
 * its page, and finally abandoned. The throttles stop last, because the other tasks end by reporting to them.
 */
const SHUTDOWN = {
  others: { shutdownGraceTime: 0.6, shutdownForceTime: 0.8 },
  throttles: { shutdownGraceTime: 0.05, shutdownForceTime: 0.1 },
} as const;

const MAX_CACHED_CRAWLS = 100;

const BUILT_WORKFLOWS = fileURLToPath(new URL('../../workflow-bundle.js', import.meta.url));

export async function startWorker({
  config,
  temporal,
  databaseUrl,
  log,
  onlyThrottles = false,
  workflowCode = BUILT_WORKFLOWS,
  overrideDeps = (deps) => deps,
}: WorkerSetup): Promise<RunningWorker> {
  const clientConnection = await connectTemporal(temporal.address);
  const db = openDatabase(databaseUrl);
  const store = withRecentBodies(openContentStore(config.contentDir));
  const dependencies = watchDependencies({ connection: clientConnection, db, store, log });
  installRuntime(log, dependencies);
  const connection = await connectWorker(temporal.address);
  const agents = createAgentPool();
  const addresses = new AddressLimiter(db, config.address, (error) => {
    if (!dependencies.reportIfUnavailable(error))
      log.warn(
        { err: error },
        'could not record that requests have ended; their places stay taken for a while',
      );
  });
  const client = new Client({ connection: clientConnection, namespace: temporal.namespace });
  const reports = new HeldReports((domain, releases) =>
    sendReleases({ client, config, dependencies, log }, domain, releases),
  );
  const lag = watchEventLoopLag();
  const crawls = new LRUCache<string, CrawlRecord>({
    max: MAX_CACHED_CRAWLS,
    fetchMethod: (crawlId) => readCrawl(db, crawlId),
    // A crawl evicted while it is read is still what its caller asked for.
    ignoreFetchAbort: true,
  });
  const deps: Deps = {
    config,
    db,
    client,
    store,
    agents,
    addresses,
    fetchSlots: new FetchSlots(config.maxConcurrentFetches, config.address.maxOpen),
    bodyMemory: new BodyMemory(config.maxBodyMemoryBytes, ({ site, bytes }) =>
      log.warn({ site, bytes }, 'the bodies of open fetches need too much memory; aborted the largest'),
    ),
    robotsRules: createRobotsRulesCache(),
    gateWaits: new GateWaits(),
    reports,
    lag,
    parse: createParser({ timeoutMs: config.parseTimeoutMs }),
    log,
    dependencies,
    crawlOf: (crawlId) => crawls.forceFetch(crawlId),
  };
  const activities = createActivities(overrideDeps(deps));
  const { shutdownTimeoutMs } = config;
  const shared = (shares: { shutdownGraceTime: number; shutdownForceTime: number }) => ({
    connection,
    namespace: temporal.namespace,
    interceptors: { activity: [heartbeats] },
    shutdownGraceTime: shares.shutdownGraceTime * shutdownTimeoutMs,
    shutdownForceTime: shares.shutdownForceTime * shutdownTimeoutMs,
  });
  const options: WorkerOptions[] = [
    {
      ...shared(SHUTDOWN.others),
      workflowBundle: { codePath: workflowCode },
      taskQueue: config.taskQueue,
      // Including the steps, which pages run as local activities.
      activities: { ...activities.fetches, ...activities.steps },
      maxConcurrentActivityTaskExecutions: (1 + MAX_WAITING.all) * config.maxConcurrentFetches,
      maxConcurrentWorkflowTaskExecutions: MAX_PAGE_TASKS,
      maxConcurrentLocalActivityExecutions: MAX_PAGE_TASKS,
      maxCachedWorkflows: MAX_CACHED_PAGES,
    },
    {
      ...shared(SHUTDOWN.others),
      taskQueue: stepQueue(config.taskQueue),
      activities: activities.steps,
    },
    {
      ...shared(SHUTDOWN.throttles),
      workflowBundle: { codePath: workflowCode },
      taskQueue: throttleQueue(config.taskQueue),
      activities: activities.throttles,
      maxCachedWorkflows: MAX_CACHED_THROTTLES,
      workflowFailureErrorTypes: FAILS_WORKFLOW,
    },
  ];
  const selected = onlyThrottles ? options.slice(-1) : options;
  const workers = await Promise.all(selected.map((worker) => Worker.create(worker)));
  const running = workers.map((worker) => ({ worker, ended: worker.run() }));
  return {
    failed: Promise.all(running.map(({ ended }) => ended)).then(() => new Promise<never>(() => {})),
    async stop() {
      await Promise.race([stopInOrder(), sleep(shutdownTimeoutMs)]);
    },
  };

  async function stopInOrder(): Promise<void> {
    // The throttles last: pages and fetches report to them as they end.
    await drain(running.slice(0, -1));
    await reports.flushAll();
    await drain(running);
    lag.stop();
    dependencies.stop();
    await addresses.stop();
    await agents.destroy();
    await Promise.all([db.$disconnect(), clientConnection.close(), connection.close()]);
  }
}

/** The SDK compresses messages, which costs CPU for nothing on one machine. */
function connectWorker(address: string): Promise<NativeConnection> {
  const isLoopback = /^(localhost|127(\.\d+){3}|\[::1\])(:\d+)?$/.test(address);
  return NativeConnection.connect({ address, ...(isLoopback && { grpcCompression: { codec: 'none' } }) });
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
 * Sends the SDK's log, including its core's, which would go to standard output, to ours. A process that has installed its own
 * runtime before keeps it.
 */
function installRuntime(log: Logger, dependencies: DependencyHealth): void {
  try {
    Runtime.install({
      logger: createTemporalLogger(log, dependencies),
      telemetryOptions: { logging: { forward: {}, filter: { core: 'WARN', other: 'ERROR' } } },
      shutdownSignals: [],
    });
  } catch (error) {
    if (!(error instanceof IllegalStateError)) throw error;
  }
}
