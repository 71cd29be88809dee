/**
 * Prisma's own schema engine, for developers and tests: it compares a database with prisma/schema.prisma. Amble itself
 * applies migrations without it (src/storage/migrate.ts). This is its WebAssembly build, so nothing is downloaded.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type {
  DiagnoseMigrationHistoryOutput,
  MigrationList,
  SchemaEngine,
  SchemasContainer,
} from '@prisma/schema-engine-wasm';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';
import { packageRoot } from '../src/core/package-root.ts';
import { migrationsDirectory, readMigrations } from '../src/storage/migrate.ts';

/** The part of the global that is needed here: its full types come only with those of a browser. */
declare const WebAssembly: {
  instantiate(
    module: Uint8Array,
    imports: Record<string, object>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

const SCHEMA_FILE = join(packageRoot, 'prisma', 'schema.prisma');
const LOCK_FILE = 'migration_lock.toml';

/** Everything in the database belongs to the schema. */
const NO_FILTER = { externalTables: [], externalEnums: [] };

/** The SQL that would turn the database into prisma/schema.prisma; null if it is that already. */
export async function schemaDifference(databaseUrl: string): Promise<string | null> {
  return withSchemaEngine(databaseUrl, async (engine, { files }) => {
    const { exitCode, stdout } = await engine.diff({
      from: { tag: 'schemaDatasource', files, configDir: '' },
      to: { tag: 'schemaDatamodel', files },
      script: true,
      exitCode: true,
      filters: NO_FILTER,
    });
    return exitCode === 0 ? null : stdout;
  });
}

/** What `prisma migrate status` reports. */
export async function migrationStatus(databaseUrl: string): Promise<DiagnoseMigrationHistoryOutput> {
  const migrationsList = await readMigrationList();
  return withSchemaEngine(databaseUrl, (engine) =>
    engine.diagnoseMigrationHistory({ migrationsList, optInToShadowDatabase: false, filters: NO_FILTER }),
  );
}

/** What `prisma migrate deploy` does: returns the names of the migrations that it applied. */
export async function deployMigrations(databaseUrl: string): Promise<string[]> {
  const migrationsList = await readMigrationList();
  return withSchemaEngine(databaseUrl, async (engine) => {
    const { appliedMigrationNames } = await engine.applyMigrations({ migrationsList, filters: NO_FILTER });
    return appliedMigrationNames;
  });
}

async function readMigrationList(): Promise<MigrationList> {
  const migrations = await readMigrations();
  return {
    baseDir: migrationsDirectory,
    lockfile: { path: LOCK_FILE, content: await readFile(join(migrationsDirectory, LOCK_FILE), 'utf8') },
    shadowDbInitScript: '',
    migrationDirectories: migrations.map(({ name, script }) => ({
      path: name,
      migrationFile: { path: 'migration.sql', content: { tag: 'ok', value: script } },
    })),
  };
}

/** Runs `work` with an engine on a single connection, and closes both afterwards. */
async function withSchemaEngine<T>(
  databaseUrl: string,
  work: (engine: SchemaEngine, schema: SchemasContainer) => Promise<T>,
): Promise<T> {
  await loadEngine();
  const schema = { files: [{ path: SCHEMA_FILE, content: await readFile(SCHEMA_FILE, 'utf8') }] };
  const connection = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 0 });
  try {
    const datamodels = schema.files.map(({ path, content }): [string, string] => [path, content]);
    const adapter = bindMigrationAwareSqlAdapterFactory(describingAdapter(connection));
    const engine = await bindings.SchemaEngine.new({ datamodels }, () => {}, adapter);
    try {
      return await work(engine, schema);
    } finally {
      engine.free();
    }
  } finally {
    await connection.end();
  }
}

let loading: Promise<void> | undefined;

/** Instantiates the module by hand: its own entry point imports a .wasm file, which Node 20 supports only behind a flag. */
function loadEngine(): Promise<void> {
  loading ??= (async () => {
    const glue = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
    const wasm = await readFile(glue.replace(/\.js$/, '.wasm'));
    const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': engineImports() });
    bindings.__wbg_set_wasm(instance.exports);
    const start = instance.exports.__wbindgen_start;
    if (typeof start === 'function') start();
  })();
  return loading;
}

/** The engine never clears the timer that limits its wait for a lock, which would keep a finished process alive for 10 s. */
function engineImports(): Record<string, unknown> {
  const timer = (callback: () => void, ms: number) => setTimeout(callback, ms).unref();
  return Object.fromEntries(
    Object.entries(bindings).map(([name, value]) => [
      name,
      name.startsWith('__wbg_setTimeout_') ? timer : value,
    ]),
  );
}

const OID_CHAR = 18;
const OID_TIME = 1083;

/**
 * Prisma's adapter, with one gap closed: the catalogue has columns of the type "char", which the engine must be able to
 * tell from text and which the adapter rejects. They pass the adapter as a type that the catalogue does not use, and
 * get their own type back behind it.
 */
function describingAdapter(connection: pg.Pool): SqlMigrationAwareDriverAdapterFactory {
  const query = connection.query.bind(connection);
  Object.defineProperty(connection, 'query', {
    value: async (statement: string | pg.QueryArrayConfig) => {
      // Two branches, because these are two overloads.
      const result = await (typeof statement === 'string' ? query(statement) : query(statement));
      for (const field of result.fields) if (field.dataTypeID === OID_CHAR) field.dataTypeID = OID_TIME;
      return result;
    },
  });

  const factory = new PrismaPg(connection);
  return {
    provider: factory.provider,
    adapterName: factory.adapterName,
    async connect() {
      const adapter = await factory.connect();
      const queryRaw = adapter.queryRaw.bind(adapter);
      adapter.queryRaw = async (statement) => {
        const result = await queryRaw(statement);
        const columnTypes = result.columnTypes.map((type) =>
          type === ColumnTypeEnum.Time ? ColumnTypeEnum.Character : type,
        );
        return { ...result, columnTypes };
      };
      // Prisma's adapter cuts a script at each semicolon, also within the body of a function. Postgres runs a whole script.
      adapter.executeScript = async (script) => void (await query(script));
      return adapter;
    },
    // The adapter's own shadow database is the main one if the connection was given as a URL: it must not be used.
    connectToShadowDb() {
      return Promise.reject(
        new Error('Schemas are compared in a scratch database, not in a shadow database.'),
      );
    },
  };
}
