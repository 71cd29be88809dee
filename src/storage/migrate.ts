/** Brings a database to the schema of this version. */
import { createHash } from 'node:crypto';
import type { MigrationList } from '@prisma/schema-engine-wasm';
import pg from 'pg';
import { readMigrations } from './migrate-files.ts';

/** Applies the migrations that the database lacks and returns their names. Several processes may do so at once. */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const migrations = await readMigrations();
  if (await hasAll(databaseUrl, migrations)) return [];
  // Only now: to load the engine and to have it look takes most of a second, and nearly every start finds nothing to do.
  const { applyMigrations } = await import('./apply-migrations.ts');
  return applyMigrations(databaseUrl, migrations);
}

interface Entry {
  migration_name: string;
  checksum: string;
  is_finished: boolean;
}

/** By the engine's own entries: each migration as it is now was finished, and nothing is unfinished. */
async function hasAll(databaseUrl: string, { migrationDirectories }: MigrationList): Promise<boolean> {
  const entries = await entriesIn(databaseUrl);
  const finished = new Map(entries.map(({ migration_name, checksum }) => [migration_name, checksum]));
  return (
    entries.every(({ is_finished }) => is_finished) &&
    migrationDirectories.every(({ path, migrationFile: { content } }) => {
      const script = content.tag === 'ok' ? content.value : null;
      return script !== null && finished.get(path) === checksumOf(script);
    })
  );
}

/** As the engine has it. */
function checksumOf(script: string): string {
  return createHash('sha256').update(script).digest('hex');
}

/** What was rolled back is left out: it counts as never begun. */
async function entriesIn(databaseUrl: string): Promise<Entry[]> {
  const client = new pg.Client(databaseUrl);
  await client.connect();
  try {
    const { rows: found } = await client.query<{ found: boolean }>(
      "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found",
    );
    if (!found[0]?.found) return [];
    const { rows } = await client.query<Entry>(
      `SELECT migration_name, checksum, finished_at IS NOT NULL AS is_finished
       FROM _prisma_migrations WHERE rolled_back_at IS NULL`,
    );
    return rows;
  } finally {
    await client.end();
  }
}
