/** Reads how an installation is: each part by itself, so that one that is missing hides nothing of the others. */
import type { StatsFs } from 'node:fs';
import { access, constants, statfs } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { Client } from '@temporalio/client';
import { stepQueue, throttleQueue } from '../../workflows/ids.ts';
import type { AmbleConfig } from '../config/index.ts';
import { type ContentLocation, describeContentLocation } from '../core/content-location.ts';
import { codeOf, messageOf } from '../core/errors.ts';
import { formatPlural } from '../core/format.ts';
import {
  type Finding,
  findProblems,
  type HealthFacts,
  STALLED_AFTER_MS,
  type WaitingFor,
} from '../reports/health-findings.ts';
import { findCrawl } from '../storage/crawls.ts';
import type { Database } from '../storage/database.ts';
import { readRemaining } from '../storage/reports/remaining.ts';
import { type OpenCrawl, readOpenCrawls } from '../storage/reports/silent-crawls.ts';
import { readStop } from '../storage/stop.ts';
import { readWorkers } from '../storage/workers.ts';

export interface HealthReport extends HealthFacts {
  findings: Finding[];
}

/** `db` and `client` null: they could not be joined, for the reason given. */
export interface HealthSources {
  config: AmbleConfig;
  db: Database | null;
  client: Client | null;
  noDatabase?: string;
  noTemporal?: string;
}

const TIMEOUT_MS = 2_000;

export async function readHealth(sources: HealthSources, now: Date): Promise<HealthReport> {
  const { config, db, client } = sources;
  const [database, temporal, contentStore] = await Promise.all([
    db === null
      ? { error: sources.noDatabase ?? 'it is not running' }
      : attempt(() => inTime(readDatabase(db, now))),
    client === null
      ? { error: sources.noTemporal ?? 'it is not running' }
      : attempt(() => readBacklog(client, config)),
    readContentStore(config.contentStore),
  ]);
  const { clockOffsetMs, databaseBytes, workers, crawls, stop } =
    'value' in database ? database.value : NOTHING;
  const facts: HealthFacts = {
    postgresError: 'error' in database ? database.error : null,
    temporalError: 'error' in temporal ? temporal.error : null,
    contentStore,
    ...{ clockOffsetMs, databaseBytes, workers, crawls, stop },
    backlog: 'value' in temporal ? temporal.value : null,
  };
  return { ...facts, findings: findProblems(facts, now) };
}

const NOTHING = { clockOffsetMs: null, databaseBytes: null, workers: null, crawls: null, stop: null };

/** A frozen server neither answers nor refuses. */
async function inTime<T>(answer: Promise<T>): Promise<T> {
  answer.catch(() => {});
  const late = sleep(TIMEOUT_MS, null, { ref: false }).then(() => {
    throw new Error('it does not answer');
  });
  return Promise.race([answer, late]);
}

async function attempt<T>(read: () => Promise<T>): Promise<{ value: T } | { error: string }> {
  try {
    return { value: await read() };
  } catch (error) {
    return { error: messageOf(error) };
  }
}

async function readDatabase(db: Database, now: Date) {
  const askedAt = Date.now();
  const [row] = await db.$queryRaw<{ at: Date; bytes: number }[]>`
    SELECT clock_timestamp() AS at, pg_database_size(current_database())::float8 AS bytes`;
  const answeredAt = Date.now();
  const [workers, open, stop] = await Promise.all([readWorkers(db), readOpenCrawls(db), readStop(db)]);
  return {
    // Between both readings of our own clock.
    clockOffsetMs: row ? (askedAt + answeredAt) / 2 - row.at.getTime() : null,
    databaseBytes: row?.bytes ?? null,
    ...{ workers, stop },
    crawls: await Promise.all(
      open.map(async (crawl) => ({ ...crawl, ...(await whatItWaitsFor(db, crawl, now)) })),
    ),
  };
}

const UNEXPLAINED: WaitingFor = { waitsFor: null, asOrdered: false };

async function whatItWaitsFor(
  db: Database,
  { id, status, lastDoneAt }: OpenCrawl,
  now: Date,
): Promise<WaitingFor> {
  const silentMs = now.getTime() - lastDoneAt.getTime();
  if (status !== 'Running' || silentMs < STALLED_AFTER_MS) return UNEXPLAINED;
  const crawl = await findCrawl(db, id);
  const domains = crawl === null ? [] : await readRemaining(db, id, crawl.settings);
  const count = (name: string, of: (typeof domains)[number][]) =>
    of.length === 0 ? [] : [`${formatPlural(of.length, 'domain')} ${name}`];
  const paused = domains.filter((domain) => domain.paused);
  const blocked = domains.filter((domain) => !domain.paused && domain.blockedUntil !== null);
  const down = domains.filter((domain) => !domain.paused && domain.blockedUntil === null && domain.down);
  const explained = new Set([...paused, ...blocked, ...down]);
  const slow = domains.filter((domain) => !explained.has(domain) && domain.gapMs >= silentMs);
  if (domains.length === 0 || explained.size + slow.length < domains.length) return UNEXPLAINED;
  const waitsFor = [
    ...count('paused', paused),
    ...count('in a Retry-After', blocked),
    ...count('down', down),
    ...count('with a longer gap than that', slow),
  ].join(', ');
  return { waitsFor, asOrdered: blocked.length + down.length === 0 };
}

/** `TASK_QUEUE_TYPE_WORKFLOW` and `TASK_QUEUE_TYPE_ACTIVITY` of the server's protocol. */
const TASK_TYPES = [1, 2];

async function readBacklog(
  client: Client,
  { taskQueue }: AmbleConfig,
): Promise<NonNullable<HealthFacts['backlog']>> {
  const queues = [taskQueue, stepQueue(taskQueue), throttleQueue(taskQueue)];
  return client.withDeadline(Date.now() + TIMEOUT_MS, () =>
    Promise.all(
      queues.map(async (queue) => {
        const described = await Promise.all(
          TASK_TYPES.map((taskQueueType) =>
            client.workflowService.describeTaskQueue({
              namespace: client.options.namespace,
              taskQueue: { name: queue },
              taskQueueType,
              reportStats: true,
            }),
          ),
        );
        const stats = described.flatMap(({ stats }) => (stats ? [stats] : []));
        return {
          queue,
          tasks: stats.reduce((sum, one) => sum + Number(one.approximateBacklogCount ?? 0), 0),
          oldestMs: Math.max(
            0,
            ...stats.map((one) => Number(one.approximateBacklogAge?.seconds ?? 0) * 1_000),
          ),
        };
      }),
    ),
  );
}

/** Writes nothing: workers probe it by writing. A bucket is left to them. */
async function readContentStore(store: ContentLocation): Promise<HealthFacts['contentStore']> {
  if (store.kind !== 'directory')
    return {
      name: describeContentLocation(store),
      ...{ isBucket: true, error: null, freeBytes: null, sizeBytes: null },
    };
  const { path: directory } = store;
  const error = await access(directory, constants.W_OK).then(
    () => null,
    (cause: unknown) => (codeOf(cause) === 'ENOENT' ? null : messageOf(cause)),
  );
  const space = await readSpace(resolve(directory));
  return {
    name: directory,
    isBucket: false,
    error,
    freeBytes: space && space.bavail * space.bsize,
    sizeBytes: space && space.blocks * space.bsize,
  };
}

/** Of the directory, or of the nearest one above it: before the first body there is none. */
async function readSpace(directory: string): Promise<StatsFs | null> {
  const space = await statfs(directory).catch(() => null);
  const parent = dirname(directory);
  return space !== null || parent === directory ? space : readSpace(parent);
}
