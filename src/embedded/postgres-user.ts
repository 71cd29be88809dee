/**
 * Postgres refuses to run as root. Under root it runs as an unprivileged user that every system has, without any capability:
 * whoever controls the server can read what that user can read, and no more.
 */
import { execFile } from 'node:child_process';
import { realpath, stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** Owns the data and runs the server. */
export interface PostgresUser {
  uid: number;
  gid: number;
}

/** null: the user of this process. */
export async function postgresUser(data: string): Promise<PostgresUser | null> {
  if (process.getuid?.() !== 0) return null;
  const user = (await ownerOf(data)) ?? (await idsOf('postgres')) ?? (await idsOf('nobody'));
  if (user === null) {
    throw new Error(
      'Postgres cannot run as root, and this system has neither a user "postgres" nor "nobody". Start Amble as another user, or set DATABASE_URL to a server of your own.',
    );
  }
  return user;
}

/**
 * A name for this directory that works for that user if it is the working directory. The working directory is entered before
 * the user is switched, so it may lie below a directory that only root may enter, such as /root.
 */
export async function nameOfWorkingDirectory(directory: string, user: PostgresUser | null): Promise<string> {
  const closed = user && (await closedParent(directory));
  if (closed === null) return directory;
  if (process.platform === 'linux') return '/proc/self/cwd';
  throw new Error(
    `Postgres cannot run as root, and the unprivileged user it would run as cannot enter ${closed}. Choose another --home, start Amble as another user, or set DATABASE_URL to a server of your own.`,
  );
}

/** The first directory above this path that not everyone may enter. */
export async function closedParent(path: string): Promise<string | null> {
  for (let directory = dirname(await realpath(path)); ; directory = dirname(directory)) {
    if (((await stat(directory)).mode & 0o001) === 0) return directory;
    if (directory === dirname(directory)) return null;
  }
}

async function ownerOf(path: string): Promise<PostgresUser | null> {
  return stat(path).then(
    ({ uid, gid }) => ({ uid, gid }),
    () => null,
  );
}

async function idsOf(name: string): Promise<PostgresUser | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', name]), run('id', ['-g', name])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}
