/** The embedded Temporal dev server. */
import { existsSync } from 'node:fs';
import { rename } from 'node:fs/promises';
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
import { probeTemporal } from './temporal-probe.ts';

export interface TemporalServer {
  address: string;
  namespace: string;
  /** null: not known, as with a server that is not ours. */
  uiUrl: string | null;
  /** One of this home, and of nobody else. */
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

/** What the server is told beyond its defaults, which are made for many hosts; this is one. */
const SERVER_SETTINGS = {
  // As a server on Postgres has it: what runs here must run there.
  'limit.maxIDLength': 255,
  // By default no timer fires before a second has passed, in case another host's clock is ahead: a throttle with a delay of a
  // second would always be late with its grants.
  'history.timerProcessorMaxTimeShift': '20ms',
  // What is done is struck off its lists only this often, and every new task goes through what is left on them.
  'history.transferProcessorUpdateAckInterval': '3s',
  'history.timerProcessorUpdateAckInterval': '3s',
  'history.visibilityProcessorUpdateAckInterval': '3s',
};

export interface EmbeddedTemporalOptions {
  namespace: string;
  /** Path of a `temporal` program to use before any other. */
  binary: string | undefined;
  notify(line: string): void;
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
        // Two and a half times as fast as the default, and as safe against a killed process.
        ...['--sqlite-pragma', 'journal_mode=WAL', '--sqlite-pragma', 'synchronous=NORMAL'],
        ...Object.entries(SERVER_SETTINGS).flatMap(([key, value]) => [
          '--dynamic-config-value',
          `${key}=${JSON.stringify(value)}`,
        ]),
        ...['--log-level', 'warn', '--color', 'never'],
      ],
    }),
    isReady: async ([port]) => (await probeTemporal(`${LOOPBACK}:${port}`, namespace)) === 'serving',
    remedy: 'Set TEMPORAL_ADDRESS to use a server of your own instead.',
    unrecoverable: UNREADABLE,
  };
  const [port, uiPort] = await ensureRunning(kind).catch(async (error: unknown) => {
    if (!(error instanceof EngineStartError) || !UNREADABLE.test(error.logTail)) throw error;
    const aside = await setAside(home.temporal.database);
    notify(
      `The Temporal server cannot read its database, now ${aside}; it begins a new one. No page is lost.`,
    );
    return ensureRunning(kind);
  });
  return serverOn(namespace, port, uiPort);
}

/**
 * What SQLite says of a file that is not whole. The server makes its tables in several steps and never looks at a file that
 * exists: killed in its very first second, it would not start again, ever.
 */
const UNREADABLE = /no such (table|column)|file is not a database|database disk image is malformed/i;

/** Kept, for whoever wants to know what happened; what it held can be taken up from Postgres. */
async function setAside(database: string): Promise<string> {
  const aside = `${database}.unreadable-${new Date().toISOString().replace(/\W/g, '')}`;
  for (const part of ['', '-wal', '-shm']) {
    if (existsSync(`${database}${part}`)) await rename(`${database}${part}`, `${aside}${part}`);
  }
  return aside;
}

/** null: it does not run, or does not answer. */
export async function findEmbeddedTemporal(home: Home, namespace: string): Promise<TemporalServer | null> {
  const [port, uiPort] = (await findEngine(temporalEngine(home)))?.ports ?? [];
  if (port === undefined) return null;
  const server = serverOn(namespace, port, uiPort);
  return (await probeTemporal(server.address, namespace)) === 'serving' ? server : null;
}

function serverOn(namespace: string, port: number | undefined, uiPort: number | undefined): TemporalServer {
  return {
    address: `${LOOPBACK}:${port}`,
    namespace,
    uiUrl: `http://${LOOPBACK}:${uiPort}`,
    embedded: true,
  };
}
