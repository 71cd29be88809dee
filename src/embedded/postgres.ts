/** The embedded Postgres: a cluster in the home that listens on loopback and requires the password stored there. */
import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { chmod, chown, mkdtemp, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import pg from 'pg';
import { type EngineIdentity, ensureRunning } from './engine.ts';
import type { Home } from './home.ts';
import { LOOPBACK } from './ports.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';
import { type PostgresUser, postgresUser } from './postgres-user.ts';
import { commandLineOf } from './process-table.ts';

const run = promisify(execFile);

const USER = 'amble';
const DATABASE = 'amble';
const REMEDY = 'Set DATABASE_URL to use a server of your own instead.';
const CONNECT_TIMEOUT_MS = 5_000;

export function postgresEngine(home: Home): EngineIdentity {
  return {
    name: 'The embedded Postgres',
    record: home.postgres.record,
    marker: `-D ${home.postgres.data} `,
    // Fast, then immediate shutdown. Both also end its children, which after a SIGKILL have to notice by themselves.
    stopSequence: [
      { signal: 'SIGINT', waitMs: 20_000 },
      { signal: 'SIGQUIT', waitMs: 5_000 },
      { signal: 'SIGKILL', waitMs: 5_000 },
    ],
  };
}

/** Returns the URL of its database once the server is ready. */
export async function ensurePostgres(home: Home, notify: (message: string) => void): Promise<string> {
  const { data } = home.postgres;
  const binaries = await findPostgresBinaries();
  const user = await postgresUser(data, [binaries.postgres, data]);
  const password = await ensurePassword(home.postgres.password);
  const urlOf = (port: number | undefined, database: string) =>
    `postgresql://${USER}:${password}@${LOOPBACK}:${port}/${database}`;

  if (!(await exists(data))) {
    notify('Setting up a Postgres database');
    await createCluster(data, binaries.initdb, password, user);
  }
  const [port] = await ensureRunning({
    ...postgresEngine(home),
    log: home.postgres.log,
    portCount: 1,
    command: async ([port]) => ({
      argv: [
        ...user.wrapper,
        binaries.postgres,
        ...['-D', data, '-p', String(port)],
        ...['-c', `listen_addresses=${LOOPBACK}`, '-c', 'unix_socket_directories='],
      ],
      ...(user.ids && user.wrapper.length === 0 ? { user: user.ids } : {}),
      env: await ignoreStalePid(home),
    }),
    isReady: ([port]) => accepts(urlOf(port, 'postgres'), data),
    remedy: REMEDY,
  });
  await ensureDatabase(urlOf(port, 'postgres'));
  return urlOf(port, DATABASE);
}

/**
 * A killed Postgres leaves its pid in a file, and the next one refuses to start while any process has that pid, even an
 * unrelated one: common in containers and after a reboot. Postgres ignores a pid that it takes for its own ancestor's, so it
 * gets the stale one as PG_GRANDPARENT_PID. It still refuses while children of the killed one use the shared memory.
 */
async function ignoreStalePid(home: Home): Promise<Record<string, string>> {
  const text = await readFile(join(home.postgres.data, 'postmaster.pid'), 'utf8').catch(() => '');
  const pid = Number.parseInt(text, 10);
  const { marker } = postgresEngine(home);
  const stale = pid > 0 && !(await commandLineOf(pid))?.includes(marker);
  return stale ? { PG_GRANDPARENT_PID: String(pid) } : {};
}

async function ensurePassword(file: string): Promise<string> {
  if (!(await exists(file))) {
    const password = randomBytes(24).toString('base64url');
    await writeFile(`${file}.new`, password, { mode: 0o600 });
    await rename(`${file}.new`, file);
  }
  await chmod(file, 0o600);
  return readFile(file, 'utf8');
}

/**
 * Created in a temporary directory and moved into place when complete, so that a kill half-way leaves nothing that looks like
 * a cluster. The name is new each time, because the initdb of a killed process may still be writing to the last one.
 */
async function createCluster(
  data: string,
  initdb: string,
  password: string,
  user: PostgresUser,
): Promise<void> {
  const temporary = await mkdtemp(`${data}.new-`);
  const passwordFile = join(temporary, 'password');
  await writeFile(passwordFile, password, { mode: 0o600 });
  if (user.ids) {
    await chown(passwordFile, user.ids.uid, user.ids.gid);
    await chown(temporary, user.ids.uid, user.ids.gid);
  }

  const [program = initdb, ...args] = [
    ...user.wrapper,
    initdb,
    ...['--pgdata', join(temporary, 'data'), '--username', USER, '--pwfile', passwordFile],
    ...['--auth', 'scram-sha-256', '--encoding', 'UTF8'],
    // The same collation on every machine, whatever locales it has.
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
  ];
  try {
    await run(program, args, user.wrapper.length === 0 ? { ...user.ids } : {});
  } catch (cause) {
    throw new Error(`Setting up the embedded Postgres failed. ${REMEDY} ${reasonOf(cause)}`, { cause });
  }
  await rename(join(temporary, 'data'), data);
  await removeTemporaries(data);
}

async function removeTemporaries(data: string): Promise<void> {
  for (const name of await readdir(dirname(data))) {
    if (!name.startsWith(`${basename(data)}.new-`)) continue;
    await rm(join(dirname(data), name), { recursive: true, force: true, maxRetries: 20 });
  }
}

function reasonOf(error: unknown): string {
  return error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : String(error);
}

/** Whether the server accepts our password and serves our data directory. Any other server on that port fails one of the two. */
async function accepts(url: string, data: string): Promise<boolean> {
  try {
    return await withClient(url, async (client) => {
      const { rows } = await client.query<{ data_directory: string }>('SHOW data_directory');
      return rows[0]?.data_directory === data;
    });
  } catch {
    return false;
  }
}

async function ensureDatabase(url: string): Promise<void> {
  await withClient(url, async (client) => {
    const { rowCount } = await client.query('SELECT FROM pg_database WHERE datname = $1', [DATABASE]);
    if (rowCount === 0) await client.query(`CREATE DATABASE ${DATABASE}`);
  });
}

async function withClient<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: CONNECT_TIMEOUT_MS });
  // Without a listener, an idle connection that breaks would end the process.
  client.on('error', () => {});
  try {
    await client.connect();
    return await work(client);
  } finally {
    await client.end();
  }
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
