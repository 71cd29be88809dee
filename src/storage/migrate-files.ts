/** The files under prisma/ in the form in which the schema engine takes them. */
import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { MigrationDirectory, MigrationList, SchemasContainer } from '@prisma/schema-engine-wasm';
import { packageRoot } from '../core/package-root.ts';

export const migrationsDirectory = join(packageRoot, 'prisma', 'migrations');

const SCHEMA_FILE = join(packageRoot, 'prisma', 'schema.prisma');
const LOCK_FILE = 'migration_lock.toml';
const SCRIPT_FILE = 'migration.sql';

export async function readSchema(): Promise<SchemasContainer> {
  return { files: [{ path: SCHEMA_FILE, content: await readFile(SCHEMA_FILE, 'utf8') }] };
}

/** All migrations, oldest first. */
export async function readMigrations(): Promise<MigrationList> {
  const entries = await readdir(migrationsDirectory, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  return {
    baseDir: migrationsDirectory,
    lockfile: { path: LOCK_FILE, content: await readFile(join(migrationsDirectory, LOCK_FILE), 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(names.sort().map(readMigration)),
  };
}

async function readMigration(name: string): Promise<MigrationDirectory> {
  const script = await readFile(join(migrationsDirectory, name, SCRIPT_FILE), 'utf8');
  return { path: name, migrationFile: { path: SCRIPT_FILE, content: { tag: 'ok', value: script } } };
}
