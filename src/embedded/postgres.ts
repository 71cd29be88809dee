/** The embedded Postgres: a cluster in the home that listens on loopback and requires the password stored there. */
import { randomBytes } from 'node:crypto';
import { chmod, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { messageOf } from '../core/errors.ts';
import { type EngineIdentity, ensureRunning } from './engine.ts';
import type { Home } from './home.ts';
import { LOOPBACK } from './ports.ts';
import { createCluster, DATABASE, ROLE } from './postgres-cluster.ts';
import { postgresFor } from './postgres-copy.ts';
import { nameOfWorkingDirectory, postgresUser } from './postgres-user.ts';
import { commandLineOf } from './process-table.ts';

/** A setting of our own that names the data directory, which the server itself may know by another name (postgres-user.ts). */
const LOCATION = 'amble.data_directory';
const REMEDY = 'Set DATABASE_URL to use a server of your own instead.';
const CONNECT_TIMEOUT_MS = 5_000;

export function postgresEngine(home: Home): EngineIdentity {
  return {
    name: 'The embedded Postgres',
    record: home.postgres.record,
    marker: `${LOCATION}=${home.postgres.data} `,
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
  const user = await postgresUser(data);
  const binaries = await postgresFor(user);
  const password = await ensurePassword(home.postgres.password);
  const urlAt = (port: number | undefined) =>
    `postgresql://${ROLE}:${password}@${LOOPBACK}:${port}/${DATABASE}`;

  if (!(await exists(data))) {
    notify('Setting up a Postgres database');
    await createCluster(data, binaries, password, user).catch((cause) => {
      throw new Error(`Setting up the embedded Postgres failed. ${REMEDY} ${messageOf(cause)}`, { cause });
    });
  }
  const [port] = await ensureRunning({
    ...postgresEngine(home),
    log: home.postgres.log,
    portCount: 1,
    command: async ([port]) => ({
      argv: [
        ...[binaries.postgres, '-D', await nameOfWorkingDirectory(data, user), '-p', String(port)],
        ...['-c', `${LOCATION}=${data}`],
        ...['-c', `listen_addresses=${LOOPBACK}`, '-c', 'unix_socket_directories='],
      ],
      cwd: data,
      ...(user && { user }),
      env: await ignoreStalePid(home),
    }),
    isReady: ([port]) => accepts(urlAt(port), data),
    remedy: REMEDY,
  });
  await refuseSuperuser(urlAt(port), data);
  return urlAt(port);
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

/** Whether the server accepts our password and serves our data directory. Any other server on that port fails one of the two. */
async function accepts(url: string, data: string): Promise<boolean> {
  try {
    return await withClient(url, async (client) => {
      const { rows } = await client.query<{ [LOCATION]: string }>(`SHOW ${LOCATION}`);
      return rows[0]?.[LOCATION] === data;
    });
  } catch {
    return false;
  }
}

/** A home from before Amble had a role of its own: there it connects as the superuser. */
async function refuseSuperuser(url: string, data: string): Promise<void> {
  const { rows } = await withClient(url, (client) =>
    client.query<{ rolsuper: boolean }>('SELECT rolsuper FROM pg_roles WHERE rolname = current_user'),
  );
  if (rows[0]?.rolsuper) {
    throw new Error(
      `The database in ${data} was set up by an older version of Amble, which connected as its superuser: move that directory away to start with an empty one.`,
    );
  }
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
