/**
 * Whether Temporal, Postgres and the content store are available to this process. Callers report the errors they run into;
 * an outage is logged once when it begins and once when it ends, however many pages fail because of it.
 */
import type { Connection } from '@temporalio/client';
import type { Logger } from 'pino';
import { CONTENT_STORE } from '../core/content-location.ts';
import { causesOf } from '../core/errors.ts';
import type { Database } from '../storage/database.ts';
import { isDatabaseUnavailable } from '../storage/database-unavailable.ts';
import { isTemporalUnavailable } from '../temporal/connection.ts';
import { type ContentStore, ContentStoreUnavailable } from './content-store.ts';

export interface DependencyHealth {
  store: DependencyMonitor;
  /** Whether an unavailable dependency caused the error. If so, its outage is logged, and the error need not be. */
  reportIfUnavailable(error: unknown): boolean;
  states(): Array<{ name: string; unavailable: boolean }>;
  stop(): void;
}

/** A dependency that takes longer to answer a probe counts as unavailable. */
const PROBE_TIMEOUT_MS = 5_000;

const PROBE_INTERVAL_MS = 1_000;
const IDLE_PROBE_INTERVAL_MS = 5_000;
/** Each writes an object and reads it, which a bucket charges for. */
const IDLE_STORE_PROBE_INTERVAL_MS = 60_000;

export function watchDependencies({
  connection,
  db,
  store,
  needsStore,
  log,
}: {
  connection: Connection;
  db: Database;
  store: ContentStore;
  /** Whether this process is of no use without the content store. */
  needsStore: boolean;
  log: Logger;
}): DependencyHealth {
  const temporal = monitorDependency({
    name: 'Temporal',
    isUnavailableError: isTemporalUnavailable,
    probe: () =>
      connection.withDeadline(Date.now() + PROBE_TIMEOUT_MS, () =>
        connection.workflowService.getSystemInfo({}),
      ),
    log,
    // The SDK retries its polls silently, so that an idle worker never sees an error.
    idleProbeIntervalMs: IDLE_PROBE_INTERVAL_MS,
  });
  const database = monitorDependency({
    name: 'Postgres',
    isUnavailableError: isDatabaseUnavailable,
    probe: () => db.$queryRaw`SELECT 1`,
    log,
    // An idle worker must not count as ready while it could do nothing.
    idleProbeIntervalMs: IDLE_PROBE_INTERVAL_MS,
  });
  const contents = monitorDependency({
    name: CONTENT_STORE,
    isUnavailableError: (error) => causesOf(error).some((cause) => cause instanceof ContentStoreUnavailable),
    probe: () => store.probe(),
    log,
    ...(needsStore && { idleProbeIntervalMs: IDLE_STORE_PROBE_INTERVAL_MS }),
  });
  const all = [temporal, database, contents];
  return {
    store: contents,
    reportIfUnavailable: (error) => all.some((monitor) => monitor.reportIfUnavailable(error)),
    states: () => all.map(({ name, unavailable }) => ({ name, unavailable })),
    stop() {
      for (const monitor of all) monitor.stop();
    },
  };
}

export interface DependencyMonitor {
  readonly name: string;
  /** From the first reported error, failed probe or probe without an answer, until a probe succeeds. */
  readonly unavailable: boolean;
  /** Whether the error means that this dependency is unavailable. If so, it is probed until it answers. */
  reportIfUnavailable(error: unknown): boolean;
  stop(): void;
}

export interface DependencyMonitorOptions {
  /** Begins the log sentence. */
  name: string;
  isUnavailableError(error: unknown): boolean;
  /** Rejects while the dependency is unavailable. */
  probe(): Promise<unknown>;
  log: Logger;
  /** Time between probes during an outage. */
  probeIntervalMs?: number;
  /** Time between probes while no error is reported, the first of them at once; unset: no such probes. */
  idleProbeIntervalMs?: number;
  /** A probe without an answer for this long has failed. The next one still waits until it has ended. */
  probeTimeoutMs?: number;
}

export function monitorDependency({
  name,
  isUnavailableError,
  probe,
  log,
  probeIntervalMs = PROBE_INTERVAL_MS,
  idleProbeIntervalMs,
  probeTimeoutMs = PROBE_TIMEOUT_MS,
}: DependencyMonitorOptions): DependencyMonitor {
  let since: number | null = null;
  let logged = false;
  let isProbing = false;
  let timer: NodeJS.Timeout | undefined;
  let stopped = false;

  /** One probe at a time: each that hangs would take a connection, or on a hung file system a thread. */
  const check = async (): Promise<void> => {
    if (stopped || isProbing) return;
    isProbing = true;
    const askedAt = performance.now();
    clearTimeout(timer);
    timer = setTimeout(() => {
      onFailure(new Error(`no answer within ${probeTimeoutMs} ms`), askedAt);
    }, probeTimeoutMs).unref();
    let isOutdated = false;
    try {
      await probe();
      // An error that was reported since may mean that the answer is no longer true.
      isOutdated = since !== null && since > askedAt;
      if (!isOutdated) onSuccess();
    } catch (error) {
      onFailure(error, askedAt);
    }
    isProbing = false;
    clearTimeout(timer);
    const nextMs = since === null ? idleProbeIntervalMs : isOutdated ? 0 : probeIntervalMs;
    if (nextMs !== undefined && !stopped) timer = setTimeout(check, nextMs).unref();
  };
  const onFailure = (error: unknown, askedAt: number): void => {
    if (stopped) return;
    since ??= askedAt;
    // Only a failed probe is logged: a connection that broke and was re-established at once is not an outage.
    if (!logged) log.warn({ err: error }, `${name} unavailable; retrying (no data lost)`);
    logged = true;
  };
  const onSuccess = (): void => {
    if (logged && since !== null)
      log.info({ unavailableMs: Math.round(performance.now() - since) }, `${name} available again`);
    since = null;
    logged = false;
  };

  // A store that was set up wrongly is noticed before the first page needs it.
  if (idleProbeIntervalMs !== undefined) void check();

  return {
    name,
    get unavailable() {
      return since !== null;
    },
    reportIfUnavailable(error) {
      if (!isUnavailableError(error)) return false;
      if (since === null && !stopped) {
        since = performance.now();
        void check();
      }
      return true;
    },
    stop() {
      stopped = true;
      clearTimeout(timer);
    },
  };
}
