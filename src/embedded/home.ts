/** The files of an Amble home. */
import { mkdir } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';

export interface Home {
  directory: string;
  /** Held by the process that starts or stops engines. */
  lock: string;
  /** Directory that registers the processes using the engines. */
  users: string;
  postgres: { data: string; password: string; record: string; log: string };
  temporal: { database: string; record: string; log: string };
}

export function homeAt(path: string): Home {
  const directory = resolve(path);
  const at = (...parts: string[]) => join(directory, ...parts);
  return {
    directory,
    lock: at('run', 'lock'),
    users: at('run', 'users'),
    postgres: {
      data: at('postgres'),
      password: at('postgres.password'),
      record: at('run', 'postgres'),
      log: at('log', 'postgres.log'),
    },
    temporal: { database: at('temporal.db'), record: at('run', 'temporal'), log: at('log', 'temporal.log') },
  };
}

export async function prepareHome(home: Home): Promise<void> {
  // Private; but under root, Postgres runs as another user, which has to reach its data through this directory.
  const mode = process.getuid?.() === 0 ? 0o711 : 0o700;
  await mkdir(home.directory, { recursive: true, mode });
  for (const directory of [home.users, dirname(home.lock), join(home.directory, 'log')]) {
    await mkdir(directory, { recursive: true, mode: 0o700 });
  }
}
