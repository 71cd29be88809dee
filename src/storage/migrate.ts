/** Brings a database to the schema of this version. */
import { NO_FILTER, withSchemaEngine } from './migrate-engine.ts';
import { readMigrations, readSchema } from './migrate-files.ts';

/** The engine's own advisory lock. Left to itself it gives up after 10 s, which a long migration elsewhere may take. */
const LOCK = 72_707_369;

/**
 * Applies the migrations that the database lacks and returns their names. Safe to run in several processes at once: they
 * wait for each other on a lock that ends with the connection.
 */
export async function migrate(databaseUrl: string): Promise<string[]> {
  const migrations = await readMigrations();
  return withSchemaEngine(databaseUrl, await readSchema(), async (engine, connection) => {
    await connection.query(`SELECT pg_advisory_lock(${LOCK})`);
    const applied: string[] = [];
    for (const upTo of migrations.migrationDirectories.keys()) {
      const migrationDirectories = migrations.migrationDirectories.slice(0, upTo + 1);
      // One transaction a migration, its entry in the engine's own table included: a process killed half-way leaves
      // nothing, where the engine alone would leave a "failed migration" for a person to resolve.
      await connection.query('BEGIN');
      const result = await engine.applyMigrations({
        migrationsList: { ...migrations, migrationDirectories },
        filters: NO_FILTER,
      });
      await connection.query('COMMIT');
      applied.push(...result.appliedMigrationNames);
    }
    return applied;
  });
}

/** The SQL that would turn the database into prisma/schema.prisma; null when it is that already. */
export async function schemaDifference(databaseUrl: string): Promise<string | null> {
  const schema = await readSchema();
  return withSchemaEngine(databaseUrl, schema, async (engine) => {
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files: schema.files, configDir: '' },
      to: { tag: 'schemaDatamodel', files: schema.files },
      script: true,
      exitCode: true,
      filters: NO_FILTER,
    });
    return exitCode === 0 ? null : stdout;
  });
}
