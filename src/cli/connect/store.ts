/** The database alone, for commands that only read. */
import { existsSync } from 'node:fs';
import type { AmbleConfig } from '../../config/index.ts';
import { isRunning } from '../../embedded/engine.ts';
import { homeAt } from '../../embedded/home.ts';
import { startDatabase } from '../../embedded/index.ts';
import { postgresEngine } from '../../embedded/postgres.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { say } from '../render/terminal.ts';

export interface Store {
  db: Database;
  close(): Promise<void>;
}

/** null: nothing has ever been stored in this home, so there is nothing to start a Postgres for. */
export async function openStore(config: AmbleConfig): Promise<Store | null> {
  if (config.databaseUrl !== null) {
    const db = openDatabase(config.databaseUrl);
    return { db, close: () => db.$disconnect() };
  }
  const home = homeAt(config.home);
  if (!existsSync(home.postgres.data)) return null;
  if (!(await isRunning(postgresEngine(home))))
    say(`Starting the database of ${config.home} for a moment, to read from it.`);
  const engines = await startDatabase({ home: config.home, notify: say });
  const db = openDatabase(engines.databaseUrl);
  return {
    db,
    async close() {
      await db.$disconnect();
      await engines.stop();
    },
  };
}
