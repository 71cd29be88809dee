/**
 * One worker process: three Temporal workers, one for each task queue, that share their dependencies. workflows/ids.ts says
 * why there are three queues.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { Client } from '@temporalio/client';
import { Worker, type WorkerOptions } from '@temporalio/worker';
import { LRUCache } from 'lru-cache';
import type { Logger } from 'pino';
import { createActivities, type Deps } from '../../activities/index.ts';
import { HeldReports } from '../../activities/slot/held-reports.ts';
import { MAX_ASKS_IN_FLIGHT, sendReleases } from '../../activities/slot/throttle-client.ts';
import { stepQueue, throttleQueue } from '../../workflows/ids.ts';
import type { AmbleConfig } from '../config/index.ts';
import { createKeyedLimiter } from '../core/keyed-limiter.ts';
import type { Labels } from '../core/page-input.ts';
import { createParser, loadDetector } from '../html/index.ts';
import { BodyMemory, createAgentPool } from '../http/index.ts';
import { createRobotsRulesCache } from '../robots/index.ts';
import { type CrawlRecord, readCrawl } from '../storage/crawls.ts';
import { openDatabase } from '../storage/database.ts';
import type { TemporalTarget } from '../temporal/access.ts';
import { connectTemporal } from '../temporal/connection.ts';
import { AddressLimiter } from './address-limiter.ts';
import { SharedRemoteClock } from './clocks.ts';
import { watchDependencies } from './dependency-health.ts';
import { watchEventLoopLag } from './event-loop-lag.ts';
import { FetchSlots, LOOKUP_SHARE, MAX_WAITING } from './fetch-slots.ts';
import { GateWaits } from './gate-waits.ts';
import { heartbeats } from './heartbeats.ts';
import { WorkerLateness } from './lateness.ts';
import { createLeadingDomains } from './leading-domains.ts';
import { logActivities } from './log-activities.ts';
import { WorkerMetrics } from './metrics.ts';
import { connectWorker } from './native-connection.ts';
import { openContentStore } from './open-content-store.ts';
import { announceWorker } from './presence.ts';
import { QuickFetches } from './quick-fetches.ts';
import { withRecentBodies } from './recent-bodies.ts';
import { installRuntime } from './runtime.ts';
import { sampleGauges } from './sample-gauges.ts';
import { probeSearchAttributes } from './search-attributes.ts';
import { withTimes } from './timed-store.ts';
import { versioningOptions, warnIfNotCurrent } from './versioning.ts';

export interface WorkerSetup {
  config: AmbleConfig;
  temporal: TemporalTarget;
  databaseUrl: string;
  log: Logger;
  /** Run throttles only, for commands that change a domain and must not crawl. */
  onlyThrottles?: boolean;
  /** Serve metrics where the configuration says. Only for processes that stay: a second one would find the port taken. */
  serveMetrics?: boolean;
  /** Path of the workflow bundle; unset: the one from the build. */
  workflowCode?: string;
  /** Replaces dependencies of the activities in tests. */
  overrideDeps?: (deps: Deps) => Deps;
}

export interface RunningWorker {
  /** Takes no new tasks, lets running ones finish while there is time, then closes everything. */
  stop(): Promise<void>;
  /** Nothing if it can do its work. */
  whyNotReady(): string[];
  /** Rejects if the worker cannot continue. */
  failed: Promise<never>;
}

/**
 * A request for a slot occupies its page's workflow task until the throttle answers. A hundred pages of one domain that start
 * together must not block the pages of other domains.
 */
const MAX_PAGE_TASKS = 300;

/**
 * What is not in the cache is replayed with every task. With 200 hosts and room for 100 throttles, each throttle was replayed for each
 * request, ever more slowly as its history grew: 10 requests a second instead of 40. So there is room for the throttles of more
 * hosts than two cores serve in a second, and for the windows of the busiest of them. A page that waits for long is evicted.
 */
const MAX_CACHED_PAGES = 1_000;
const MAX_CACHED_THROTTLES = 500;

/**
 * A throttle whose history cannot be replayed fails, and the next request for a slot starts a new one, which plans anew. Otherwise its
 * domain would be stuck until someone noticed.
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
  serveMetrics = false,
  workflowCode = BUILT_WORKFLOWS,
  overrideDeps = (deps) => deps,
}: WorkerSetup): Promise<RunningWorker> {
  const clientConnection = await connectTemporal(temporal);
  const bodies = openContentStore(config.contentStore);
  const db = openDatabase(databaseUrl, { onDuration: (tookMs) => metrics.statementEnded(tookMs) });
  const dependencies = watchDependencies({
    connection: clientConnection,
    db,
    store: bodies,
    needsStore: !onlyThrottles,
    log,
  });
  const metrics = new WorkerMetrics(
    installRuntime(log, dependencies, serveMetrics ? config.metrics.listen : null),
  );
  const store = withRecentBodies(withTimes(bodies, metrics));
  const polling = await connectWorker(temporal);
  const agents = createAgentPool();
  const addresses = new AddressLimiter(db, config.address, (error) => {
    if (!dependencies.reportIfUnavailable(error))
      log.warn(
        { err: error },
        'could not record that requests have ended; their places stay taken for a while',
      );
  });
  const client = new Client({ connection: clientConnection, namespace: temporal.namespace });
  const searchAttributes = await probeSearchAttributes((query) => client.workflow.count(query), log);
  const labels: Labels = {
    get searchAttributes() {
      return searchAttributes.present;
    },
    dashboardUrl: config.dashboardUrl,
  };
  const reports = new HeldReports((domain, releases) =>
    sendReleases({ client, config, dependencies, log, labels }, domain, releases),
  );
  const lag = watchEventLoopLag((lagMs) => metrics.eventLoopLagged(lagMs));
  const fetchSlots = new FetchSlots(config.maxConcurrentFetches, config.address.maxOpen);
  const lookups = Math.ceil(LOOKUP_SHARE * config.maxConcurrentFetches);
  const quickFetches = new QuickFetches();
  const stopSampling = sampleGauges(metrics, { fetchSlots, dependencies, contentStore: config.contentStore });
  const presence = announceWorker(db, { fetchSlots, dependencies });
  const crawls = new LRUCache<string, CrawlRecord>({
    max: MAX_CACHED_CRAWLS,
    fetchMethod: (crawlId) => readCrawl(db, crawlId),
    // A crawl evicted while it is read is still what its caller asked for.
    ignoreFetchAbort: true,
  });
  const crawlOf = (crawlId: string) => crawls.forceFetch(crawlId);
  const deps: Deps = {
    config,
    db,
    client,
    store,
    agents,
    addresses,
    fetchSlots,
    lookupSlots: new FetchSlots(lookups, lookups),
    quickFetches,
    lateness: new WorkerLateness(),
    bodyMemory: new BodyMemory(config.maxBodyMemoryBytes, ({ site, bytes }) =>
      log.warn({ site, bytes }, 'the bodies of open fetches need too much memory; aborted the largest'),
    ),
    robotsRules: createRobotsRulesCache(),
    gateWaits: new GateWaits(),
    databaseClock: new SharedRemoteClock(),
    reports,
    limitAsks: createKeyedLimiter(MAX_ASKS_IN_FLIGHT),
    lag,
    metrics,
    parse: createParser({ timeoutMs: config.parseTimeoutMs }),
    log,
    labels,
    dependencies,
    crawlOf,
    leadingDomains: createLeadingDomains(db, crawlOf),
  };
  const activities = createActivities(overrideDeps(deps));
  const { shutdownTimeoutMs } = config;
  const shared = (shares: { shutdownGraceTime: number; shutdownForceTime: number }) => ({
    connection: polling.connection,
    namespace: temporal.namespace,
    interceptors: { activity: [logActivities, heartbeats] },
    shutdownGraceTime: shares.shutdownGraceTime * shutdownTimeoutMs,
    shutdownForceTime: shares.shutdownForceTime * shutdownTimeoutMs,
    ...versioningOptions(config.buildId),
  });
  const options: WorkerOptions[] = [
    {
      ...shared(SHUTDOWN.others),
      workflowBundle: { codePath: workflowCode },
      taskQueue: config.taskQueue,
      // Including the steps, which pages run as local activities.
      activities: { ...activities.fetches, ...activities.steps },
      maxConcurrentActivityTaskExecutions: (1 + MAX_WAITING.all) * (config.maxConcurrentFetches + lookups),
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
  // With the first page it would hold up the fetches that have begun.
  if (!onlyThrottles) await loadDetector();
  const workers = await Promise.all(selected.map((worker) => Worker.create(worker)));
  await warnIfNotCurrent(client, config.buildId, log);
  const running = workers.map((worker) => ({ worker, ended: worker.run() }));
  let stopping = false;
  return {
    failed: Promise.all(running.map(({ ended }) => ended)).then(() => new Promise<never>(() => {})),
    whyNotReady: () => [
      ...(stopping ? ['stopping'] : []),
      ...dependencies
        .states()
        .flatMap(({ name, unavailable }) => (unavailable ? [`${name} unavailable`] : [])),
    ],
    async stop() {
      stopping = true;
      quickFetches.stop();
      await Promise.race([stopInOrder(), sleep(shutdownTimeoutMs)]);
    },
  };

  async function stopInOrder(): Promise<void> {
    // The throttles last: pages and fetches report to them as they end.
    await drain(running.slice(0, -1));
    await reports.flushAll();
    await drain(running);
    lag.stop();
    stopSampling();
    searchAttributes.stop();
    await presence.stop();
    dependencies.stop();
    await addresses.stop();
    await agents.destroy();
    await Promise.all([db.$disconnect(), clientConnection.close(), polling.close()]);
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
