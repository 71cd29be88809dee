/**
 * Everything the program needs, in a form that can be broken: a Temporal server with its file database and a Postgres, each
 * behind a proxy that can be cut, a disk that can be filled, and worker processes of the build. This process starts all of it,
 * and restarts it on the same ports with the same data.
 */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { promisify } from 'node:util';
import { Client, Connection } from '@temporalio/client';
import { packageRoot } from '../../src/core/package-root.ts';
import { homeAt } from '../../src/embedded/home.ts';
import { startEngines } from '../../src/embedded/index.ts';
import { ensurePostgres } from '../../src/embedded/postgres.ts';
import { ensureTemporal } from '../../src/embedded/temporal.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { cleanEnvironment, type RunningProgram, startProgram, tuningVariable } from '../e2e/support.ts';
import { createDisk, type Disk } from './disk.ts';
import { startWire, type Wire } from './wire.ts';

export const GAP_MS = 150;
export const MAXIMUM_ATTEMPTS = 3;
export const RETRY_AFTER_MS = 1_000;
/** After this, no request may start on a lease that was granted before. */
export const LEASE_MS = 2_000;

/** Short, so that a dead worker is noticed soon; everything else has its default. */
const SETTINGS = {
  delay: `${GAP_MS}ms`,
  retry: { initialInterval: `${RETRY_AFTER_MS}ms`, maximumAttempts: MAXIMUM_ATTEMPTS },
  fetch: { totalTimeout: '5s' },
};
const TUNING = {
  heartbeatMs: 2_000,
  throttle: { startWindowMs: LEASE_MS },
  crawl: { sweepIntervalMs: 500 },
};

/** A worker of the lab treats a Postgres that has not answered by then as unavailable; the default is a minute. */
export const ANSWER_WITHIN_MS = 8_000;

const READY_WITHIN_MS = 60_000;

export interface Engine {
  /** kill -9, and not started again before `start`. */
  kill(): Promise<void>;
  start(): Promise<void>;
  /** While it is down: copies its data ... */
  backUp(): Promise<void>;
  /** ... or replaces its data by that copy. */
  restore(): Promise<void>;
}

export interface LabWorker {
  name: string;
  /** The process that runs under this name now. */
  process: RunningProgram;
  /** Everything that processes of this name have written to standard error. */
  log(): string;
  /** The same of standard output, which is for results. */
  output(): string;
}

export interface Lab {
  db: Database;
  client: Client;
  taskQueue: string;
  disk: Disk;
  wires: { temporal: Wire; postgres: Wire };
  engines: { temporal: Engine; postgres: Engine };
  workers: readonly LabWorker[];
  /** Starts more of them, until there are this many. */
  ensureWorkers(count: number): Promise<void>;
  /** kill -9; returns once it is dead. */
  kill(worker: LabWorker): Promise<void>;
  /** Starts the next process under that name; returns when it is ready. */
  restart(worker: LabWorker): Promise<void>;
  remove(): Promise<void>;
}

export interface LabOptions {
  workers: number;
  /** Over those of every lab. */
  settings?: Record<string, unknown>;
  /** Of the workers. */
  env?: Record<string, string>;
}

export async function createLab({ workers, settings = {}, env = {} }: LabOptions): Promise<Lab> {
  const closers: (() => Promise<unknown>)[] = [];
  /** In reverse order, also if only half of it could be created. */
  const remove = async (): Promise<void> => {
    for (const close of closers.splice(0).reverse()) await close();
  };
  try {
    return { ...(await setUp(closers, { workers, settings, env })), remove };
  } catch (error) {
    await remove();
    throw error;
  }
}

async function setUp(
  closers: (() => Promise<unknown>)[],
  { workers: workerCount, settings, env }: Required<LabOptions>,
): Promise<Omit<Lab, 'remove'>> {
  const directory = await mkdtemp(join(tmpdir(), 'amble-faults-'));
  closers.push(() => rm(directory, { recursive: true, force: true, maxRetries: 20 }));
  const home = homeAt(join(directory, 'home'));
  const disk = await createDisk(join(directory, 'content'));
  closers.push(disk.remove);
  await writeFile(
    join(directory, 'amble.config.json'),
    JSON.stringify({ ...SETTINGS, ...settings, contentStore: disk.path }),
  );
  const quiet = (): void => {};
  const binary = process.env.AMBLE_TEMPORAL_BINARY;
  const engines = await startEngines({
    home: home.directory,
    isolated: true,
    ...(binary !== undefined && { temporalBinary: binary }),
    notify: quiet,
  });
  closers.push(engines.stop);
  const { address, namespace } = engines.temporal;
  const wires = {
    temporal: await startWire(Number(new URL(`tcp://${address}`).port)),
    postgres: await startWire(Number(new URL(engines.databaseUrl).port)),
  };
  closers.push(wires.temporal.stop, wires.postgres.stop);
  const db = openDatabase(engines.databaseUrl);
  closers.push(() => db.$disconnect());
  const connection = await Connection.connect({ address });
  closers.push(() => connection.close());

  const environment = (name: string): Record<string, string> => {
    const database = new URL(engines.databaseUrl);
    database.port = String(wires.postgres.port);
    database.searchParams.set('application_name', name);
    database.searchParams.set('query_timeout', String(ANSWER_WITHIN_MS));
    return {
      ...cleanEnvironment(),
      ...tuningVariable(TUNING),
      TEMPORAL_ADDRESS: `127.0.0.1:${wires.temporal.port}`,
      DATABASE_URL: database.href,
      AMBLE_USER_AGENT: `Amble/0.1 ${name}`,
      ...env,
    };
  };
  const launch = (name: string): RunningProgram =>
    startProgram(
      process.execPath,
      [join(packageRoot, 'dist', 'src', 'cli.js'), 'worker', '--home', home.directory],
      { cwd: directory, env: environment(name) },
    );
  const workers: LabWorker[] = [];
  const createWorker = (): LabWorker => {
    const name = `worker-${workers.length + 1}`;
    const former: ReturnType<RunningProgram['output']>[] = [];
    const all = (what: 'stdout' | 'stderr') =>
      [...former, current.output()].map((output) => output[what]).join('');
    let current = launch(name);
    return {
      name,
      get process() {
        return current;
      },
      set process(next) {
        former.push(current.output());
        current = next;
      },
      log: () => all('stderr'),
      output: () => all('stdout'),
    };
  };
  const kill = async ({ process }: LabWorker): Promise<void> => {
    process.kill('SIGKILL');
    await process.ended;
  };
  closers.push(() => Promise.all(workers.map(kill)));
  const ensureWorkers = async (count: number): Promise<void> => {
    while (workers.length < count) workers.push(createWorker());
    await Promise.all(workers.map(isReady));
  };
  await ensureWorkers(workerCount);

  return {
    db,
    client: new Client({ connection, namespace }),
    taskQueue: 'amble',
    disk,
    wires,
    engines: {
      temporal: {
        kill: () => killRecorded(home.temporal.record),
        start: async () => {
          await ensureTemporal(home, { namespace, binary, notify: quiet });
        },
        ...copiesOf(['', '-wal', '-shm'].map((part) => `${home.temporal.database}${part}`)),
      },
      postgres: {
        kill: () => killRecorded(home.postgres.record),
        start: async () => {
          await ensurePostgres(home, quiet);
        },
        ...copiesOf([home.postgres.data]),
      },
    },
    workers,
    ensureWorkers,
    kill,
    async restart(worker) {
      worker.process = launch(worker.name);
      await isReady(worker);
    },
  };
}

async function isReady({ name, process }: LabWorker): Promise<void> {
  const late = sleep(READY_WITHIN_MS, undefined, { ref: false }).then(() => {
    throw new Error(`${name} was not ready in time.`);
  });
  await Promise.race([process.waitForStderr(/Worker ready/), late]);
}

/** Owners are kept: Postgres refuses data that another user owns. */
function copiesOf(paths: readonly string[]): Pick<Engine, 'backUp' | 'restore'> {
  const copy = async (from: string, to: string): Promise<void> => {
    await rm(to, { recursive: true, force: true });
    if (existsSync(from)) await promisify(execFile)('cp', ['--archive', from, to]);
  };
  return {
    backUp: async () => {
      for (const path of paths) await copy(path, `${path}.backup`);
    },
    restore: async () => {
      for (const path of paths) await copy(`${path}.backup`, path);
    },
  };
}

async function killRecorded(record: string): Promise<void> {
  process.kill(Number.parseInt(await readFile(record, 'utf8'), 10), 'SIGKILL');
}
