/**
 * Brings a database to the schema of this version. The table of applied migrations is Prisma's own, so that its tools
 * (`prisma migrate status`) can be used on the same database. Each migration is one transaction together with its entry in
 * that table: a process that is killed leaves nothing half done, and the next start applies the migration.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { messageOf } from '../core/errors.ts';
import { packageRoot } from '../core/package-root.ts';
import { explainDatabaseError } from './database-unavailable.ts';

export const migrationsDirectory = join(packageRoot, 'prisma', 'migrations');

export interface Migration {
  /** `20261117000000_init`: migrations are applied in the order of their names. */
  name: string;
  script: string;
  checksum: string;
}

export interface MigrateOptions {
  migrations?: readonly Migration[];
  log?: (message: string) => void;
  /** How long another process may take to migrate before this one gives up. */
  lockTimeoutMs?: number;
}

/** The advisory lock that Prisma's own tools take as well. */
const LOCK_ID = 72_707_369;

const LOCK_TIMEOUT_MS = 10 * 60_000;

/** As Prisma creates it. */
const CREATE_TABLE = `
  CREATE TABLE IF NOT EXISTS _prisma_migrations (
    id VARCHAR(36) PRIMARY KEY NOT NULL,
    checksum VARCHAR(64) NOT NULL,
    finished_at TIMESTAMPTZ,
    migration_name VARCHAR(255) NOT NULL,
    logs TEXT,
    rolled_back_at TIMESTAMPTZ,
    started_at TIMESTAMPTZ NOT NULL DEFAULT now(),
    applied_steps_count INTEGER NOT NULL DEFAULT 0
  )`;

/** The same for the database that the configuration names: an error that keeps us out says which setting to correct. */
export async function migrateConfigured(databaseUrl: string, options?: MigrateOptions): Promise<string[]> {
  try {
    return await migrate(databaseUrl, options);
  } catch (error) {
    throw explainDatabaseError(error, databaseUrl);
  }
}

/** Applies the migrations that the database lacks and returns their names. Several processes may call it at once. */
export async function migrate(databaseUrl: string, options: MigrateOptions = {}): Promise<string[]> {
  const { migrations = await readMigrations(), log = () => {}, lockTimeoutMs = LOCK_TIMEOUT_MS } = options;
  const client = new pg.Client(databaseUrl);
  // A connection that breaks while a statement is running rejects that statement; otherwise the next one fails.
  client.on('error', () => {});
  await client.connect();
  try {
    const applied: string[] = [];
    // Without a lock: almost every start finds nothing to do, and must not wait for a process that migrates.
    let next = nextMigration(migrations, await readEntries(client));
    while (next !== undefined) {
      await client.query('BEGIN');
      await lock(client, lockTimeoutMs, log);
      await client.query(CREATE_TABLE);
      // Read again, because another process may have applied it before this one got the lock.
      next = nextMigration(migrations, await readEntries(client));
      if (next !== undefined) {
        await apply(client, next);
        applied.push(next.name);
      }
      await client.query('COMMIT');
    }
    return applied;
  } finally {
    // Ends an open transaction too.
    await client.end();
  }
}

/** All migrations of this version, oldest first. */
export async function readMigrations(directory: string = migrationsDirectory): Promise<Migration[]> {
  const entries = await readdir(directory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return Promise.all(
    names.sort().map(async (name) => {
      const script = await readFile(join(directory, name, 'migration.sql'), 'utf8');
      return { name, script, checksum: createHash('sha256').update(script).digest('hex') };
    }),
  );
}

interface Entry {
  migration_name: string;
  checksum: string;
  is_finished: boolean;
}

/** A migration that was rolled back counts as never started. */
async function readEntries(client: pg.Client): Promise<Entry[]> {
  const { rows: tables } = await client.query<{ exists: boolean }>(
    "SELECT to_regclass('_prisma_migrations') IS NOT NULL AS exists",
  );
  if (!tables[0]?.exists) return [];
  const { rows } = await client.query<Entry>(
    `SELECT migration_name, checksum, finished_at IS NOT NULL AS is_finished
     FROM _prisma_migrations WHERE rolled_back_at IS NULL ORDER BY started_at`,
  );
  return rows;
}

/** Refuses a database whose history is not a part of this version's: whatever was applied to it would be a guess. */
function nextMigration(migrations: readonly Migration[], entries: readonly Entry[]): Migration | undefined {
  const known = new Map(migrations.map(({ name, checksum }) => [name, checksum]));
  for (const { migration_name: name, checksum, is_finished } of entries) {
    if (!known.has(name)) throw new Error(fromNewerVersion(name));
    if (!is_finished) throw new Error(unfinished(name));
    if (known.get(name) !== checksum) throw new Error(modified(name));
  }
  const applied = new Set(entries.map(({ migration_name }) => migration_name));
  return migrations.find(({ name }) => !applied.has(name));
}

function fromNewerVersion(name: string): string {
  return `The database was migrated by a newer version of Amble (this version does not have the migration "${name}"): upgrade Amble, or use another database.`;
}

function unfinished(name: string): string {
  const mark = (column: string) =>
    `"UPDATE _prisma_migrations SET ${column} = now() WHERE migration_name = '${name}' AND finished_at IS NULL"`;
  return `Another program started the migration "${name}" and did not finish it: if all of its changes are in the database, run ${mark('finished_at')}; if none of them are, run ${mark('rolled_back_at')}, and start Amble again.`;
}

function modified(name: string): string {
  return `The file prisma/migrations/${name}/migration.sql was modified after it had been applied to this database: restore the file, or use another database.`;
}

/** Until the end of the transaction. */
async function lock(client: pg.Client, timeoutMs: number, log: (message: string) => void): Promise<void> {
  const { rows } = await client.query<{ locked: boolean }>(
    `SELECT pg_try_advisory_xact_lock(${LOCK_ID}) AS locked`,
  );
  if (rows[0]?.locked) return;
  log('Another process is migrating the database; waiting for it to finish');
  await client.query(`SET LOCAL lock_timeout = ${timeoutMs}`);
  try {
    await client.query(`SELECT pg_advisory_xact_lock(${LOCK_ID})`);
  } catch (error) {
    if (!(error instanceof pg.DatabaseError && error.code === LOCK_NOT_AVAILABLE)) throw error;
    throw new Error(
      `Another process has been migrating the database for more than ${Math.round(timeoutMs / 1_000)} s: wait until it has finished, or end it, and start Amble again.`,
      { cause: error },
    );
  }
  await client.query('SET LOCAL lock_timeout = 0');
}

const LOCK_NOT_AVAILABLE = '55P03';

async function apply(client: pg.Client, { name, script, checksum }: Migration): Promise<void> {
  const startedAt = new Date();
  try {
    await client.query(script);
  } catch (error) {
    throw new Error(`The migration "${name}" failed and was rolled back: ${messageOf(error)}`, {
      cause: error,
    });
  }
  await client.query(
    `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
     VALUES ($1, $2, $3, $4, $5, 1)`,
    [randomUUID(), checksum, new Date(), name, startedAt],
  );
}
