/**
 * Sets up the data directory of the embedded Postgres. Amble connects as a role that owns its database and may create others,
 * and that is all: a superuser could read files and run programs by SQL. The superuser exists, as Postgres requires, but the
 * server accepts nobody but Amble's role.
 */
import { type ExecFileException, execFile } from 'node:child_process';
import { chown, mkdtemp, readdir, rename, rm, writeFile } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { LOOPBACK } from './ports.ts';
import type { PostgresBinaries } from './postgres-binaries.ts';
import { nameOfWorkingDirectory, type PostgresUser } from './postgres-user.ts';

export const ROLE = 'amble';
export const DATABASE = 'amble';

const SUPERUSER = 'postgres';

/**
 * Created under a temporary name and renamed when complete, so that a kill half-way leaves nothing that looks like a cluster.
 * The name is new each time, because the initdb of a killed process may still be writing to the last one.
 */
export async function createCluster(
  data: string,
  { initdb, postgres }: PostgresBinaries,
  password: string,
  user: PostgresUser | null,
): Promise<void> {
  const temporary = await mkdtemp(`${data}.new-`);
  if (user) await chown(temporary, user.uid, user.gid);
  const name = await nameOfWorkingDirectory(temporary, user);
  const runThere = (program: string, args: readonly string[], input = ''): Promise<void> =>
    run(program, args, { cwd: temporary, ...user }, input);

  await runThere(initdb, [
    ...['--pgdata', name, '--username', SUPERUSER, '--auth', 'reject', '--encoding', 'UTF8'],
    // The same collation on every machine, whatever locales it has.
    ...['--locale-provider', 'builtin', '--builtin-locale', 'C.UTF-8', '--locale', 'C'],
  ]);
  await runThere(
    postgres,
    ['--single', '-D', name, '-c', 'exit_on_error=true', SUPERUSER],
    `CREATE ROLE ${ROLE} LOGIN CREATEDB PASSWORD '${password}'\nCREATE DATABASE ${DATABASE} OWNER ${ROLE}\n`,
  );
  await writeFile(join(temporary, 'pg_hba.conf'), `host all ${ROLE} ${LOOPBACK}/32 scram-sha-256\n`);
  await rename(temporary, data);
  await removeTemporaries(data);
}

function run(
  program: string,
  args: readonly string[],
  options: { cwd: string; uid?: number; gid?: number },
  input: string,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const done = (error: ExecFileException | null, _stdout: string, stderr: string): void => {
      if (error === null) resolve();
      else reject(new Error(stderr.trim() || error.message, { cause: error }));
    };
    const { stdin } = execFile(program, args, options, done);
    // A program that ends without reading its input is reported above.
    stdin?.on('error', () => {}).end(input);
  });
}

async function removeTemporaries(data: string): Promise<void> {
  for (const name of await readdir(dirname(data))) {
    if (!name.startsWith(`${basename(data)}.new-`)) continue;
    await rm(join(dirname(data), name), { recursive: true, force: true, maxRetries: 20 });
  }
}
