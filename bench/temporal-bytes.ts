/** How much Temporal has stored: in the dev server's SQLite, or in its two databases of Postgres. */
import { stat } from 'node:fs/promises';
import pg from 'pg';
import { homeAt } from '../src/embedded/home.ts';
import type { BenchEnvironment } from './environment.ts';

const DATABASES = ['temporal', 'temporal_visibility'];

/** By table, with indexes; SQLite is one file. */
export async function readTemporalBytes(
  { config, databaseUrl }: BenchEnvironment,
  production: boolean,
): Promise<Map<string, number>> {
  if (!production) return new Map([['SQLite', await sqliteBytes(config.home)]]);
  const tables = await Promise.all(DATABASES.map((database) => readTables(databaseUrl, database)));
  return new Map(tables.flat());
}

async function readTables(databaseUrl: string, database: string): Promise<[string, number][]> {
  const url = new URL(databaseUrl);
  url.pathname = `/${database}`;
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  try {
    const { rows } = await client.query<{ name: string; bytes: number }>(
      `SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes FROM pg_class
       WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace`,
    );
    return rows.map(({ name, bytes }) => [`${database}.${name}`, bytes]);
  } finally {
    await client.end();
  }
}

async function sqliteBytes(home: string): Promise<number> {
  const { database } = homeAt(home).temporal;
  const sizes = ['', '-wal'].map((part) =>
    stat(`${database}${part}`).then(
      ({ size }) => size,
      () => 0,
    ),
  );
  return (await Promise.all(sizes)).reduce((sum, size) => sum + size, 0);
}
