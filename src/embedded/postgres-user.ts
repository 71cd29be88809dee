/** Postgres refuses to run as root. Under root it runs as an unprivileged user that every system has. */
import { execFile } from 'node:child_process';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import which from 'which';

const run = promisify(execFile);

export interface PostgresUser {
  /** Owns the data and runs the server; unset: the user of this process. */
  ids?: { uid: number; gid: number };
  /** Command that switches to these ids and lets them enter closed directories; empty: not needed. */
  wrapper: readonly string[];
}

/** A user that can reach all these paths. */
export async function postgresUser(data: string, paths: readonly string[]): Promise<PostgresUser> {
  if (process.getuid?.() !== 0) return { wrapper: [] };
  const ids = (await ownerOf(data)) ?? (await idsOf('postgres')) ?? (await idsOf('nobody'));
  if (ids === null) {
    throw new Error(
      'Postgres cannot run as root, and this system has neither a user "postgres" nor "nobody". Start Amble as another user, or set DATABASE_URL to a server of your own.',
    );
  }
  const closed = await firstClosed(paths);
  if (closed === null) return { ids, wrapper: [] };

  const setpriv = await which('setpriv', { nothrow: true });
  if (setpriv === null) {
    throw new Error(
      `Postgres cannot run as root, and the unprivileged user it would run as cannot enter ${closed}. Choose another --home, start Amble as another user, or set DATABASE_URL to a server of your own.`,
    );
  }
  const { uid, gid } = ids;
  // Reading and entering directories is all it needs beyond its own files.
  const capabilities = ['--inh-caps', '+dac_read_search', '--ambient-caps', '+dac_read_search'];
  return {
    ids,
    wrapper: [setpriv, '--reuid', String(uid), '--regid', String(gid), '--clear-groups', ...capabilities],
  };
}

async function ownerOf(path: string): Promise<{ uid: number; gid: number } | null> {
  return stat(path).then(
    ({ uid, gid }) => ({ uid, gid }),
    () => null,
  );
}

async function idsOf(user: string): Promise<{ uid: number; gid: number } | null> {
  try {
    const [uid, gid] = await Promise.all([run('id', ['-u', user]), run('id', ['-g', user])]);
    return { uid: Number(uid.stdout), gid: Number(gid.stdout) };
  } catch {
    return null;
  }
}

/** The first directory above these paths that other users cannot enter. */
async function firstClosed(paths: readonly string[]): Promise<string | null> {
  for (const path of paths) {
    for (let directory = dirname(path); ; directory = dirname(directory)) {
      if (((await stat(directory)).mode & 0o001) === 0) return directory;
      if (directory === dirname(directory)) break;
    }
  }
  return null;
}
