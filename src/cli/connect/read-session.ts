/** The database, and Temporal if it is running, for commands that read and start as little as possible. */
import { existsSync } from 'node:fs';
import type { Client } from '@temporalio/client';
import type { AmbleConfig } from '../../config/index.ts';
import { isRunning } from '../../embedded/engine.ts';
import { homeAt } from '../../embedded/home.ts';
import { startDatabase } from '../../embedded/index.ts';
import { postgresEngine } from '../../embedded/postgres.ts';
import { type Database, openDatabase } from '../../storage/database.ts';
import { explainDatabaseError } from '../../storage/database-unavailable.ts';
import { writeErr } from '../terminal.ts';
import { joinTemporal } from './temporal-client.ts';

/** `db` is null if nothing has ever been stored in this home: then no Postgres is started either. */
export async function withDatabase<T>(
  config: AmbleConfig,
  work: (db: Database | null) => Promise<T>,
): Promise<T> {
  const store = await openStore(config);
  try {
    return await work(store?.db ?? null);
  } catch (error) {
    throw config.databaseUrl === null ? error : explainDatabaseError(error, config.databaseUrl);
  } finally {
    await store?.close();
  }
}

/** `client` is null if no Temporal server is running, or there is no database to read from. */
export async function withDatabaseAndTemporal<T>(
  config: AmbleConfig,
  work: (db: Database | null, client: Client | null) => Promise<T>,
): Promise<T> {
  return withDatabase(config, async (db) => {
    const temporal = db && (await joinTemporal(config));
    try {
      return await work(db, temporal?.client ?? null);
    } finally {
      await temporal?.close();
    }
  });
}

/** Where the data is, for messages. */
export function storeName({ home, databaseUrl }: AmbleConfig): string {
  return databaseUrl === null ? home : `the database at ${new URL(databaseUrl).host}`;
}

interface Store {
  db: Database;
  close(): Promise<void>;
}

async function openStore(config: AmbleConfig): Promise<Store | null> {
  if (config.databaseUrl !== null) {
    const db = openDatabase(config.databaseUrl, { forReports: true });
    return { db, close: () => db.$disconnect() };
  }
  const home = homeAt(config.home);
  if (!existsSync(home.postgres.data)) return null;
  if (!(await isRunning(postgresEngine(home))))
    writeErr(`Starting the database in ${config.home} to read from it; it stops afterwards.`);
  const engines = await startDatabase({ home: config.home, notify: writeErr });
  const db = openDatabase(engines.databaseUrl, { forReports: true });
  return {
    db,
    async close() {
      await db.$disconnect();
      await engines.stop();
    },
  };
}
