/**
 * The two servers Amble needs: those it is told of, those that run already, or its own. Processes that share a home
 * share its engines; the last one to leave stops them.
 */
import { migrate } from '../storage/migrate.ts';
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
} from './process-registry.ts';
import { type SupervisedEngine, superviseEngines } from './supervise.ts';
import { type TemporalServer, temporalEngine } from './temporal.ts';

export { findTemporal } from './choose-temporal.ts';

export interface Engines {
  temporal: TemporalServer;
  databaseUrl: string;
  /** Rejects when an engine of ours that died could only be started where nobody looks for it; with `keepUp` alone. */
  moved: Promise<never>;
  /** Calls back when the embedded Temporal server has been started anew, perhaps without its data; with `keepUp` alone. */
  onTemporalRestart(listener: () => void): void;
  /** Leaves the engines, and stops the embedded ones unless another living process uses them. */
  stop(): Promise<void>;
}

export interface EngineOptions extends TemporalSettings {
  /** A Postgres database to use; unset: an embedded one. */
  databaseUrl?: string;
  /** Start embedded engines again that die before `stop`: for those who stay. */
  supervise?: boolean;
}

type Chosen = Pick<Engines, 'temporal' | 'databaseUrl'>;

/** Both engines up, and the database brought to the schema of this version. */
export async function startEngines(options: EngineOptions): Promise<Engines> {
  const { temporalAddress, databaseUrl } = options;
  if (temporalAddress !== undefined && databaseUrl !== undefined) {
    const temporal = await requireTemporal(temporalAddress, options);
    await migrate(databaseUrl, { log: options.notify });
    return { temporal, databaseUrl, ...NOT_KEPT_UP, stop: async () => {} };
  }
  const engines = await inHome(options, (home) => both(home, options));
  if (!options.supervise) return { ...engines, ...NOT_KEPT_UP };
  const listeners: (() => void)[] = [];
  const restarted = () => {
    for (const listener of listeners) listener();
  };
  const kept = superviseEngines(embeddedOf(engines, options, restarted), options.notify);
  return {
    ...engines,
    moved: kept.moved,
    onTemporalRestart: (listener) => listeners.push(listener),
    async stop() {
      await kept.stop();
      await engines.stop();
    },
  };
}

const NOT_KEPT_UP = { moved: new Promise<never>(() => {}), onTemporalRestart: () => {} };

/** Those of these engines that are our own. */
function embeddedOf(
  { temporal, databaseUrl }: Chosen,
  options: EngineOptions,
  temporalRestarted: () => void,
): SupervisedEngine[] {
  const { notify } = options;
  const home = homeAt(options.home);
  const kept = (
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
      await alone(home, notify, start);
    },
    onRestart: () => {},
  });
  const engines: SupervisedEngine[] = [];
  if (options.databaseUrl === undefined)
    engines.push(kept(postgresEngine(home), databaseUrl, () => ensurePostgres(home, notify)));
  if (temporal.embedded) {
    const start = () => ensureEmbeddedTemporal(home, options);
    const engine = kept(temporalEngine(home), `tcp://${temporal.address}`, start);
    engines.push({ ...engine, onRestart: temporalRestarted });
  }
  return engines;
}

/** The database alone, for those who only read or write it. */
export async function startDatabase(
  options: Pick<EngineOptions, 'home' | 'databaseUrl' | 'notify'>,
): Promise<Pick<Engines, 'databaseUrl' | 'stop'>> {
  const { databaseUrl } = options;
  if (databaseUrl !== undefined) {
    await migrate(databaseUrl, { log: options.notify });
    return { databaseUrl, stop: async () => {} };
  }
  return inHome(options, async (home) => ({ databaseUrl: await chooseDatabase(home, options) }));
}

/** Starts engines as a user of this home, one process at a time. */
async function inHome<T>(
  { home: path, notify }: Pick<EngineOptions, 'home' | 'notify'>,
  start: (home: Home) => Promise<T>,
): Promise<T & Pick<Engines, 'stop'>> {
  if (process.platform === 'win32') {
    throw new Error(
      'Amble starts engines of its own on Linux and macOS only: set TEMPORAL_ADDRESS and DATABASE_URL to servers that run.',
    );
  }
  const home = homeAt(path);
  await prepareHome(home);
  return alone(home, notify, async () => {
    const me = await registerProcess(home.users);
    try {
      return { ...(await start(home)), stop: stopOnce(home, me, notify) };
    } catch (error) {
      await depart(home, me);
      throw error;
    }
  });
}

async function both(home: Home, options: EngineOptions): Promise<Chosen> {
  const starting = [chooseTemporal(home, options), chooseDatabase(home, options)] as const;
  // One that fails must not leave the other half-started behind the caller's back.
  await Promise.allSettled(starting);
  const [temporal, databaseUrl] = await Promise.all(starting);
  return { temporal, databaseUrl };
}

async function chooseDatabase(
  home: Home,
  { databaseUrl, notify }: Pick<EngineOptions, 'databaseUrl' | 'notify'>,
): Promise<string> {
  const url = databaseUrl ?? (await ensurePostgres(home, notify));
  await migrate(url, { log: notify });
  return url;
}

function stopOnce(home: Home, me: RegisteredProcess, notify: (line: string) => void): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= alone(home, notify, () => depart(home, me));
    return stopped;
  };
}

async function depart(home: Home, me: RegisteredProcess): Promise<void> {
  await unregisterProcess(home.users, me);
  if ((await livingProcesses(home.users)).length > 0) return;
  await Promise.all([stopEngine(temporalEngine(home)), stopEngine(postgresEngine(home))]);
}

function alone<T>(home: Home, notify: (line: string) => void, work: () => Promise<T>): Promise<T> {
  return withLock(
    home.lock,
    (holder) => notify(`Waiting for process ${holder}, which starts or stops the engines`),
    work,
  );
}
