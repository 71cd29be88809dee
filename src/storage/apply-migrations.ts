/** Applies migrations through Prisma's own engine, so that one that is killed half-way leaves nothing behind. */
import type { MigrationList } from '@prisma/schema-engine-wasm';
import type pg from 'pg';
import { NO_FILTER, withSchemaEngine } from './migrate-engine.ts';
import { readSchema } from './migrate-files.ts';

/** The engine's own advisory lock. Left to itself it gives up after 10 s, which a long migration elsewhere may take. */
const LOCK = 72_707_369;

/**
 * Applies the migrations that the database lacks and returns their names. Safe to run in several processes at once: they
 * wait for each other on a lock that ends with the connection.
 */
export async function applyMigrations(databaseUrl: string, migrations: MigrationList): Promise<string[]> {
  const all = [...migrations.migrationDirectories.keys()];
  return withSchemaEngine(databaseUrl, await readSchema(), async (engine, connection) => {
    await connection.query(`SELECT pg_advisory_lock(${LOCK})`);
    const unfinished = await begunElsewhere(connection);
    const applied: string[] = [];
    // What was taken back must come back with it if its second try fails: then there is one stage, to the very end.
    for (const upTo of unfinished.length === 0 ? all : all.slice(-1)) {
      const migrationDirectories = migrations.migrationDirectories.slice(0, upTo + 1);
      // One transaction a migration, its entry in the engine's own table included: a process killed half-way leaves
      // nothing, where the engine alone would leave a "failed migration" for a person to resolve.
      await connection.query('BEGIN');
      if (unfinished.length > 0) await connection.query(SETTLE_UNFINISHED);
      const result = await engine
        .applyMigrations({ migrationsList: { ...migrations, migrationDirectories }, filters: NO_FILTER })
        .catch((error: unknown) =>
          Promise.reject(unfinished.length > 0 ? halfDone(unfinished, error) : error),
        );
      await connection.query('COMMIT');
      applied.push(...result.appliedMigrationNames);
    }
    return applied;
  });
}

const UNFINISHED = 'finished_at IS NULL AND rolled_back_at IS NULL';

/** Migrations that another program, `prisma migrate deploy` for one, began here and was killed over. */
async function begunElsewhere(connection: pg.Pool): Promise<string[]> {
  const { rows: found } = await connection.query<{ found: boolean }>(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS found",
  );
  if (!found[0]?.found) return [];
  const { rows } = await connection.query<{ migration_name: string }>(
    `SELECT migration_name FROM _prisma_migrations WHERE ${UNFINISHED} ORDER BY started_at`,
  );
  return rows.map(({ migration_name }) => migration_name);
}

/**
 * Sent as one query, a script is one transaction to Postgres: it came about as a whole, then its step is counted, or not
 * at all, or as a whole without being counted. The last two look alike here; the second try tells them apart.
 */
const SETTLE_UNFINISHED = `
  UPDATE _prisma_migrations SET finished_at = CASE WHEN applied_steps_count > 0 THEN now() END,
                                rolled_back_at = CASE WHEN applied_steps_count = 0 THEN now() END
  WHERE ${UNFINISHED}`;

function halfDone(names: readonly string[], cause: unknown): Error {
  const reason = cause instanceof Error ? cause.message.split('\n')[0] : String(cause);
  return new Error(
    `The migration ${names.join(', ')} was begun by another program and never finished, and cannot be begun again (${reason}): if all of its changes are there, run "UPDATE _prisma_migrations SET finished_at = now() WHERE ${UNFINISHED}" in this database; else take back those that are.`,
    { cause },
  );
}
