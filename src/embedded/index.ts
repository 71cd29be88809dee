/**
 * The two servers Amble needs, Temporal and Postgres: the configured ones, running ones, or embedded engines. Processes with
 * the same home share its embedded engines; the last process to leave stops them.
 */
import { migrate, migrateConfigured } from '../storage/migrate.ts';
import {
  chooseTemporal,
  ensureEmbeddedTemporal,
  requireTemporal,
  type TemporalSettings,
} from './choose-temporal.ts';
import { type EngineIdentity, findEngine, stopEngine } from './engine.ts';
import { type Home, homeAt, prepareHome } from './home.ts';
import { withLock } from './lock.ts';
import { ensurePostgres, postgresEngine } from './postgres.ts';
import {
  livingProcesses,
  type RegisteredProcess,
  registerProcess,
  unregisterProcess,
} from './process-table.ts';
import { type SupervisedEngine, superviseEngines } from './supervise.ts';
import { type TemporalServer, temporalEngine } from './temporal.ts';

export { findTemporal } from './choose-temporal.ts';

export interface Engines {
  temporal: TemporalServer;
  databaseUrl: string;
  /** With `supervise`: rejects if an embedded engine died and could only be restarted on another port. */
  moved: Promise<never>;
  /** With `supervise`: called after the embedded Temporal server was restarted, perhaps without its data. */
  onTemporalRestart(listener: () => void): void;
  /** Stops the embedded engines unless another living process uses them. */
  stop(): Promise<void>;
}

export interface EngineOptions extends TemporalSettings {
  /** Unset: an embedded Postgres. */
  databaseUrl?: string;
  /** Restart embedded engines that die before `stop`. */
  supervise?: boolean;
}

type Chosen = Pick<Engines, 'temporal' | 'databaseUrl'>;

/** Returns when both servers are ready and the database has this version's schema. */
export async function startEngines(options: EngineOptions): Promise<Engines> {
  const { temporalAddress, databaseUrl } = options;
  if (temporalAddress !== undefined && databaseUrl !== undefined) {
    const temporal = await requireTemporal(temporalAddress, options);
    await migrateConfigured(databaseUrl, { log: options.notify });
    return { temporal, databaseUrl, ...UNSUPERVISED, stop: async () => {} };
  }
  const engines = await inHome(options, (home) => startBoth(home, options));
  if (!options.supervise) return { ...engines, ...UNSUPERVISED };
  const listeners: (() => void)[] = [];
  const notifyListeners = () => {
    for (const listener of listeners) listener();
  };
  const supervisor = superviseEngines(embeddedOf(engines, options, notifyListeners), options.notify);
  return {
    ...engines,
    moved: supervisor.moved,
    onTemporalRestart: (listener) => listeners.push(listener),
    async stop() {
      await supervisor.stop();
      await engines.stop();
    },
  };
}

const UNSUPERVISED = { moved: new Promise<never>(() => {}), onTemporalRestart: () => {} };

/** The embedded ones, for the supervisor. */
function embeddedOf(
  { temporal, databaseUrl }: Chosen,
  options: EngineOptions,
  onTemporalRestart: () => void,
): SupervisedEngine[] {
  const { notify } = options;
  const home = homeAt(options.home);
  const supervised = (
    identity: EngineIdentity,
    address: string,
    start: () => Promise<unknown>,
  ): SupervisedEngine => ({
    name: identity.name,
    port: Number(new URL(address).port),
    async find() {
      const { pid, ports: [port] = [] } = (await findEngine(identity)) ?? {};
      return pid === undefined || port === undefined ? null : { pid, port };
    },
    start: async () => {
      await whileLocked(home, notify, start);
    },
    onRestart: () => {},
  });
  const engines: SupervisedEngine[] = [];
  if (options.databaseUrl === undefined)
    engines.push(supervised(postgresEngine(home), databaseUrl, () => ensurePostgres(home, notify)));
  if (temporal.embedded) {
    const start = () => ensureEmbeddedTemporal(home, options);
    const engine = supervised(temporalEngine(home), `tcp://${temporal.address}`, start);
    engines.push({ ...engine, onRestart: onTemporalRestart });
  }
  return engines;
}

/** The database alone, for commands that need no Temporal server. */
export async function startDatabase(
  options: Pick<EngineOptions, 'home' | 'databaseUrl' | 'notify'>,
): Promise<Pick<Engines, 'databaseUrl' | 'stop'>> {
  const { databaseUrl } = options;
  if (databaseUrl !== undefined) {
    await migrateConfigured(databaseUrl, { log: options.notify });
    return { databaseUrl, stop: async () => {} };
  }
  return inHome(options, async (home) => ({ databaseUrl: await chooseDatabase(home, options) }));
}

/** Registers this process as a user of the home and starts engines, while no other process does. */
async function inHome<T>(
  { home: path, notify }: Pick<EngineOptions, 'home' | 'notify'>,
  start: (home: Home) => Promise<T>,
): Promise<T & Pick<Engines, 'stop'>> {
  if (process.platform === 'win32') {
    throw new Error(
      'Embedded engines run on Linux and macOS only. Set TEMPORAL_ADDRESS and DATABASE_URL to running servers.',
    );
  }
  const home = homeAt(path);
  await prepareHome(home);
  return whileLocked(home, notify, async () => {
    const user = await registerProcess(home.users);
    try {
      return { ...(await start(home)), stop: stopOnce(home, user, notify) };
    } catch (error) {
      await leaveHome(home, user);
      throw error;
    }
  });
}

async function startBoth(home: Home, options: EngineOptions): Promise<Chosen> {
  const starting = [chooseTemporal(home, options), chooseDatabase(home, options)] as const;
  // If one fails, the other must not keep starting in the background.
  await Promise.allSettled(starting);
  const [temporal, databaseUrl] = await Promise.all(starting);
  return { temporal, databaseUrl };
}

async function chooseDatabase(
  home: Home,
  { databaseUrl, notify }: Pick<EngineOptions, 'databaseUrl' | 'notify'>,
): Promise<string> {
  if (databaseUrl !== undefined) {
    await migrateConfigured(databaseUrl, { log: notify });
    return databaseUrl;
  }
  const url = await ensurePostgres(home, notify);
  await migrate(url, { log: notify });
  return url;
}

function stopOnce(
  home: Home,
  user: RegisteredProcess,
  notify: (message: string) => void,
): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= whileLocked(home, notify, () => leaveHome(home, user));
    return stopped;
  };
}

async function leaveHome(home: Home, user: RegisteredProcess): Promise<void> {
  await unregisterProcess(home.users, user);
  if ((await livingProcesses(home.users)).length > 0) return;
  await Promise.all([stopEngine(temporalEngine(home)), stopEngine(postgresEngine(home))]);
}

function whileLocked<T>(home: Home, notify: (message: string) => void, work: () => Promise<T>): Promise<T> {
  return withLock(
    home.lock,
    (holder) => notify(`Waiting for process ${holder}, which is starting or stopping the embedded engines`),
    work,
  );
}
