/** The embedded Temporal dev server. */
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
import { SEARCH_ATTRIBUTES } from '../core/search-attributes.ts';
import type { TemporalTarget } from '../temporal/access.ts';
import { probeTemporal } from '../temporal/probe.ts';
import {
  type EngineIdentity,
  type EngineSpec,
  EngineStartError,
  ensureRunning,
  findEngine,
} from './engine.ts';
import type { Home } from './home.ts';
import { LOOPBACK } from './ports.ts';
import { findTemporalBinary } from './temporal-binary.ts';

export interface TemporalServer extends TemporalTarget {
  /** null: unknown, because the server is not embedded. */
  uiUrl: string | null;
  /** Belongs to this home. */
  embedded: boolean;
}

export function temporalEngine(home: Home): EngineIdentity {
  return {
    name: 'The embedded Temporal server',
    record: home.temporal.record,
    marker: `--db-filename ${home.temporal.database} `,
    stopSequence: [
      { signal: 'SIGTERM', waitMs: 15_000 },
      { signal: 'SIGKILL', waitMs: 5_000 },
    ],
  };
}

/** Dynamic configuration of every server that Amble uses. deploy/temporal/dynamicconfig.yaml has the same. */
export const SERVER_SETTINGS = {
  // By default timers fire up to a second late, to allow for clock differences between hosts. A throttle with a delay of one
  // second would grant every slot late.
  'history.timerProcessorMaxTimeShift': '20ms',
  // How often completed tasks are removed from the queues. Each new task has to pass over those that are left.
  'history.transferProcessorUpdateAckInterval': '3s',
  'history.timerProcessorUpdateAckInterval': '3s',
  'history.visibilityProcessorUpdateAckInterval': '3s',
  // A fetch is handed to the worker in the answer to its workflow task, without a poll. On by default from server 1.32 on.
  'system.enableActivityEagerExecution': true,
};

/** What only the dev server needs. */
const DEV_SERVER_SETTINGS = {
  // The limit of a server on Postgres: what runs here must run there too.
  'limit.maxIDLength': 255,
  // The dev server reads its search attributes from SQLite at every use otherwise: 11 queries a page.
  'system.forceSearchAttributesCacheRefreshOnRead': false,
  // A queue has four parts by default. A task that finds nobody polling its part waits there, now and then for one or two seconds:
  // of hosts that began together, some began that much later. One part is enough for thousands of tasks a second.
  'matching.numTaskqueueReadPartitions': 1,
  'matching.numTaskqueueWritePartitions': 1,
};

export interface EmbeddedTemporalOptions {
  namespace: string;
  /** Path of the Temporal CLI; undefined: see temporal-binary.ts. */
  binary: string | undefined;
  notify(message: string): void;
}

export async function ensureTemporal(
  home: Home,
  { namespace, binary, notify }: EmbeddedTemporalOptions,
): Promise<TemporalServer> {
  const kind: EngineSpec = {
    ...temporalEngine(home),
    log: home.temporal.log,
    portCount: 2,
    command: async ([port, uiPort]) => ({
      argv: [
        ...[
          await findTemporalBinary(binary, notify),
          'server',
          'start-dev',
          '--db-filename',
          home.temporal.database,
        ],
        ...['--ip', LOOPBACK, '--port', String(port), '--ui-port', String(uiPort)],
        ...(namespace === 'default' ? [] : ['--namespace', namespace]),
        // Two and a half times as fast as the defaults, and as safe if the process is killed.
        ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
        ...Object.entries({ ...SERVER_SETTINGS, ...DEV_SERVER_SETTINGS }).flatMap(([key, value]) => [
          '--dynamic-config-value',
          `${key}=${JSON.stringify(value)}`,
        ]),
        ...Object.values(SEARCH_ATTRIBUTES).flatMap((name) => ['--search-attribute', `${name}=Keyword`]),
        ...['--log-level', 'warn', '--color', 'never'],
      ],
      // By default Go collects garbage whenever the heap has doubled, which takes a fourteenth of the server's CPU.
      env: { GOGC: process.env.GOGC ?? '300' },
    }),
    isReady: async ([port]) =>
      (await probeTemporal({ address: `${LOOPBACK}:${port}`, namespace })) === 'serving',
    remedy: 'Set TEMPORAL_ADDRESS to use a server of your own instead.',
    unrecoverable: UNREADABLE,
  };
  const [port, uiPort] = await ensureRunning(kind).catch(async (error: unknown) => {
    if (!(error instanceof EngineStartError) || !UNREADABLE.test(error.logTail)) throw error;
    const aside = await moveAside(home.temporal.database);
    notify(
      `The Temporal server cannot read its database, which was moved to ${aside}. It starts with an empty one (no pages lost).`,
    );
    return ensureRunning(kind);
  });
  return serverOn(namespace, port, uiPort);
}

/**
 * SQLite's errors for a damaged file. The server creates its tables in several steps and never repairs an existing file, so
 * a server killed in its first second could never start again.
 */
const UNREADABLE = /no such (table|column)|file is not a database|database disk image is malformed/i;

/** Kept for diagnosis. Its crawls can be resumed from Postgres. */
async function moveAside(database: string): Promise<string> {
  const aside = `${database}.unreadable-${new Date().toISOString().replace(/\W/g, '')}`;
  for (const part of ['', '-wal', '-shm']) {
    if (existsSync(`${database}${part}`)) await rename(`${database}${part}`, `${aside}${part}`);
  }
  return aside;
}

/** null: it is not running, or does not answer. */
export async function findEmbeddedTemporal(home: Home, namespace: string): Promise<TemporalServer | null> {
  const [port, uiPort] = (await findEngine(temporalEngine(home)))?.ports ?? [];
  if (port === undefined) return null;
  const server = serverOn(namespace, port, uiPort);
  return (await probeTemporal(server)) === 'serving' ? server : null;
}

function serverOn(namespace: string, port: number | undefined, uiPort: number | undefined): TemporalServer {
  return {
    address: `${LOOPBACK}:${port}`,
    namespace,
    uiUrl: `http://${LOOPBACK}:${uiPort}`,
    embedded: true,
  };
}
