/**
 * The two servers Amble needs: those it is told of, those that run already, or its own. Processes that share a home
 * share its engines; the last one to leave stops them.
 */
import { existsSync } from 'node:fs';
import { migrate } from '../storage/migrate.ts';
import { isRunning, stopEngine } from './engine.ts';
import { type Home, homeAt, prepareHome } from './home.ts';
import { type KeptEngine, keepUp } from './keep-up.ts';
import { withLock } from './lock.ts';
import { ensurePostgres, postgresEngine } from './postgres.ts';
import { enter, leave, type Presence, present } from './presence.ts';
import { ensureTemporal, findEmbedded, type TemporalServer, temporalEngine } from './temporal.ts';
import { probeTemporal } from './temporal-probe.ts';

export interface Engines {
  temporal: TemporalServer;
  databaseUrl: string;
  /** Leaves the engines, and stops the embedded ones unless another living process uses them. */
  stop(): Promise<void>;
}

export interface EngineOptions {
  /** Directory for the data, logs and password of embedded engines. */
  home: string;
  /** A Temporal server to use; unset: that of this home if it ever had one, else one at `usualAddress`, else a new one. */
  temporalAddress?: string;
  /** `default` unless set. */
  temporalNamespace?: string;
  /** Path of the Temporal CLI; unset: looked for, else fetched. */
  temporalBinary?: string;
  /** A Postgres database to use; unset: an embedded one. */
  databaseUrl?: string;
  /** Where a server is looked for that somebody else runs; `localhost:7233` unless set. */
  usualAddress?: string;
  /** Do not look there: for tests and the demo, which must not meet other people's workflows. */
  isolated?: boolean;
  /** Start embedded engines again that die before `stop`: for those who stay. */
  keepUp?: boolean;
  /** Progress for a person, a line at a time. */
  say(line: string): void;
}

const USUAL_ADDRESS = 'localhost:7233';

/** Both engines up, and the database brought to the schema of this version. */
export async function startEngines(options: EngineOptions): Promise<Engines> {
  const { temporalAddress, databaseUrl } = options;
  if (temporalAddress !== undefined && databaseUrl !== undefined) {
    const temporal = await givenTemporal(temporalAddress, namespaceOf(options));
    await migrate(databaseUrl);
    return { temporal, databaseUrl, stop: async () => {} };
  }
  const engines = await inHome(options, (home) => both(home, options));
  if (!options.keepUp) return engines;
  const letGo = keepUp(embeddedOf(engines, options), options.say);
  return {
    ...engines,
    async stop() {
      await letGo();
      await engines.stop();
    },
  };
}

/** Those of these engines that are our own. */
function embeddedOf({ temporal, databaseUrl }: Engines, options: EngineOptions): KeptEngine[] {
  const home = homeAt(options.home);
  const kept: KeptEngine[] = [];
  if (options.databaseUrl === undefined) {
    const engine = postgresEngine(home);
    kept.push({
      name: engine.name,
      address: databaseUrl,
      isRunning: () => isRunning(engine),
      start: () => alone(home, options.say, () => ensurePostgres(home, options.say)),
    });
  }
  if (temporal.embedded) {
    const engine = temporalEngine(home);
    kept.push({
      name: engine.name,
      address: temporal.address,
      isRunning: () => isRunning(engine),
      start: () => alone(home, options.say, async () => (await ensureEmbedded(home, options)).address),
    });
  }
  return kept;
}

/** The database alone, for those who only read or write it. */
export async function startDatabase(
  options: Pick<EngineOptions, 'home' | 'databaseUrl' | 'say'>,
): Promise<Omit<Engines, 'temporal'>> {
  const { databaseUrl } = options;
  if (databaseUrl !== undefined) {
    await migrate(databaseUrl);
    return { databaseUrl, stop: async () => {} };
  }
  return inHome(options, async (home) => ({ databaseUrl: await chooseDatabase(home, options) }));
}

/** The Temporal server that startEngines would join, for those who only want to ask it; null: none runs. */
export async function findTemporal(
  options: Pick<EngineOptions, 'home' | 'temporalAddress' | 'temporalNamespace' | 'usualAddress'>,
): Promise<TemporalServer | null> {
  const namespace = namespaceOf(options);
  const { temporalAddress, usualAddress = USUAL_ADDRESS } = options;
  const home = homeAt(options.home);
  if (temporalAddress === undefined && hadTemporal(home)) return findEmbedded(home, namespace);
  const address = temporalAddress ?? usualAddress;
  return (await probeTemporal(address, namespace)) === 'serves'
    ? { address, namespace, uiUrl: null, embedded: false }
    : null;
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

async function both(home: Home, options: EngineOptions): Promise<Omit<Engines, 'stop'>> {
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
  await migrate(url);
  return url;
}

async function chooseTemporal(home: Home, options: EngineOptions): Promise<TemporalServer> {
  const namespace = namespaceOf(options);
  const { temporalAddress, usualAddress: address = USUAL_ADDRESS } = options;
  if (temporalAddress !== undefined) return givenTemporal(temporalAddress, namespace);
  const ours = options.isolated || hadTemporal(home) || (await isRunning(temporalEngine(home)));
  if (!ours && (await probeTemporal(address, namespace)) === 'serves') {
    return { address, namespace, uiUrl: null, embedded: false };
  }
  return ensureEmbedded(home, options);
}

function ensureEmbedded(home: Home, options: EngineOptions): Promise<TemporalServer> {
  const { temporalBinary: binary, say } = options;
  return ensureTemporal(home, { namespace: namespaceOf(options), binary, say });
}

/**
 * Crawls and throttles of this home are in its database, whether its server runs or not. Begun a second time on another
 * server they would ask the same sites beside the first ones.
 */
function hadTemporal(home: Home): boolean {
  return existsSync(home.temporal.database);
}

async function givenTemporal(address: string, namespace: string): Promise<TemporalServer> {
  switch (await probeTemporal(address, namespace)) {
    case 'serves':
      return { address, namespace, uiUrl: null, embedded: false };
    case 'no-namespace':
      throw new Error(
        `The Temporal server at ${address} has no namespace "${namespace}": make it with \`temporal operator namespace create\`, or set TEMPORAL_NAMESPACE to one it has.`,
      );
    case 'silent':
      throw new Error(
        `No Temporal server answers at ${address}: start one there, or unset TEMPORAL_ADDRESS to have Amble start its own.`,
      );
  }
}

function namespaceOf({ temporalNamespace }: Pick<EngineOptions, 'temporalNamespace'>): string {
  return temporalNamespace ?? 'default';
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
