/**
 * Under root, Postgres runs as a user that cannot enter /root and the like. If its programs are installed there, it runs a copy
 * of them in a directory that belongs to root and that everyone may enter. Their own directory cannot be given to it as the data
 * directory is (postgres-user.ts): they look up their real path to find their libraries.
 */
import { execFile } from 'node:child_process';
import { access, chmod, mkdir, mkdtemp, readFile, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { z } from 'zod';
import { messageOf } from '../core/errors.ts';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';
import { closedParent, type PostgresUser } from './postgres-user.ts';

const run = promisify(execFile);

/** By the Filesystem Hierarchy Standard: what can be made again. Only root can write there. */
const COPIES = '/var/cache/amble';

const Package = z.object({ version: z.string() });

/** The programs at a path where this user can run them; null: the user of this process. */
export async function postgresFor(user: PostgresUser | null): Promise<PostgresBinaries> {
  const installed = await findPostgresBinaries();
  return user ? openToAll(installed) : installed;
}

/** The same programs if everyone can reach them, else a copy. */
export async function openToAll(binaries: PostgresBinaries, copies = COPIES): Promise<PostgresBinaries> {
  const closed = await closedParent(binaries.postgres);
  if (closed === null) return binaries;
  const native = dirname(dirname(binaries.postgres));
  try {
    const copy = await copyOnce(native, copies);
    const inCopy = (program: string): string => join(copy, 'bin', basename(program));
    return { initdb: inCopy(binaries.initdb), postgres: inCopy(binaries.postgres) };
  } catch (cause) {
    throw new Error(
      `Postgres cannot run as root, the unprivileged user it would run as cannot enter ${closed}, and copying its programs from there to ${copies} failed. Start Amble as another user, or set DATABASE_URL to a server of your own. ${messageOf(cause)}`,
      { cause },
    );
  }
}

async function copyOnce(native: string, copies: string): Promise<string> {
  const { version } = Package.parse(JSON.parse(await readFile(join(native, '..', 'package.json'), 'utf8')));
  const copy = join(copies, `postgres-${version}`);
  if (await exists(copy)) return copy;
  await mkdir(copies, { recursive: true });
  await chmod(copies, 0o755);
  const temporary = await mkdtemp(`${copy}.new-`);
  try {
    await run('cp', ['-R', `${native}/.`, temporary]);
    await run('chmod', ['-R', 'a+rX', temporary]);
    await rename(temporary, copy);
  } catch (error) {
    await rm(temporary, { recursive: true, force: true });
    // Another process may have been faster.
    if (!(await exists(copy))) throw error;
  }
  return copy;
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  );
}
