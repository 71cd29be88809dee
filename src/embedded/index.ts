/**
 * The two servers Amble needs: those it is told of, those that run already, or its own. Processes that share a home
 * share its engines; the last one to leave stops them.
 */
import { migrate } from '../storage/migrate.ts';
import { chooseTemporal, ensureEmbedded, givenTemporal, type TemporalWishes } from './choose-temporal.ts';
import { type EngineIdentity, findEngine, stopEngine } from './engine.ts';
import { type Home, homeAt, prepareHome } from './home.ts';
import { withLock } from './lock.ts';
import { ensurePostgres, postgresEngine } from './postgres.ts';
import { enter, leave, type Presence, present } from './presence.ts';
import { type KeptEngine, keepUp } from './supervise.ts';
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

export interface EngineOptions extends TemporalWishes {
  /** A Postgres database to use; unset: an embedded one. */
  databaseUrl?: string;
  /** Start embedded engines again that die before `stop`: for those who stay. */
  keepUp?: boolean;
}

type Chosen = Pick<Engines, 'temporal' | 'databaseUrl'>;

/** Both engines up, and the database brought to the schema of this version. */
export async function startEngines(options: EngineOptions): Promise<Engines> {
  const { temporalAddress, databaseUrl } = options;
  if (temporalAddress !== undefined && databaseUrl !== undefined) {
    const temporal = await givenTemporal(temporalAddress, options);
    await migrate(databaseUrl, { log: options.say });
    return { temporal, databaseUrl, ...NOT_KEPT_UP, stop: async () => {} };
  }
  const engines = await inHome(options, (home) => both(home, options));
  if (!options.keepUp) return { ...engines, ...NOT_KEPT_UP };
  const listeners: (() => void)[] = [];
  const restarted = () => {
    for (const listener of listeners) listener();
  };
  const kept = keepUp(embeddedOf(engines, options, restarted), options.say);
  return {
    ...engines,
    moved: kept.moved,
    onTemporalRestart: (listener) => listeners.push(listener),
    async stop() {
      await kept.end();
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
): KeptEngine[] {
  const { say } = options;
  const home = homeAt(options.home);
  const kept = (identity: EngineIdentity, address: string, start: () => Promise<unknown>): KeptEngine => ({
    name: identity.name,
    port: Number(new URL(address).port),
    async find() {
      const { pid, ports: [port] = [] } = (await findEngine(identity)) ?? {};
      return pid === undefined || port === undefined ? null : { pid, port };
    },
    start: async () => {
      await alone(home, say, start);
    },
    startedAnew: () => {},
  });
  const engines: KeptEngine[] = [];
  if (options.databaseUrl === undefined)
    engines.push(kept(postgresEngine(home), databaseUrl, () => ensurePostgres(home, say)));
  if (temporal.embedded) {
    const start = () => ensureEmbedded(home, options);
    const engine = kept(temporalEngine(home), `tcp://${temporal.address}`, start);
    engines.push({ ...engine, startedAnew: temporalRestarted });
  }
  return engines;
}

/** The database alone, for those who only read or write it. */
export async function startDatabase(
  options: Pick<EngineOptions, 'home' | 'databaseUrl' | 'say'>,
): Promise<Pick<Engines, 'databaseUrl' | 'stop'>> {
  const { databaseUrl } = options;
  if (databaseUrl !== undefined) {
    await migrate(databaseUrl, { log: options.say });
    return { databaseUrl, stop: async () => {} };
  }
  return inHome(options, async (home) => ({ databaseUrl: await chooseDatabase(home, options) }));
}

/** Starts engines as a user of this home, one process at a time. */
async function inHome<T>(
  { home: path, say }: Pick<EngineOptions, 'home' | 'say'>,
  start: (home: Home) => Promise<T>,
): Promise<T & Pick<Engines, 'stop'>> {
  if (process.platform === 'win32') {
    throw new Error(
      'Amble starts engines of its own on Linux and macOS only: set TEMPORAL_ADDRESS and DATABASE_URL to servers that run.',
    );
  }
  const home = homeAt(path);
  await prepareHome(home);
  return alone(home, say, async () => {
    const me = await enter(home.users, 0);
    try {
      return { ...(await start(home)), stop: stopOnce(home, me, say) };
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
  { databaseUrl, say }: Pick<EngineOptions, 'databaseUrl' | 'say'>,
): Promise<string> {
  const url = databaseUrl ?? (await ensurePostgres(home, say));
  await migrate(url, { log: say });
  return url;
}

function stopOnce(home: Home, me: Presence, say: (line: string) => void): () => Promise<void> {
  let stopped: Promise<void> | undefined;
  return () => {
    stopped ??= alone(home, say, () => depart(home, me));
    return stopped;
  };
}

async function depart(home: Home, me: Presence): Promise<void> {
  await leave(home.users, me);
  if ((await present(home.users)).length > 0) return;
  await Promise.all([stopEngine(temporalEngine(home)), stopEngine(postgresEngine(home))]);
}

function alone<T>(home: Home, say: (line: string) => void, work: () => Promise<T>): Promise<T> {
  return withLock(
    home.lock,
    (holder) => say(`Waiting for process ${holder}, which starts or stops the engines`),
    work,
  );
}
