/**
 * Prisma's own schema engine, the WebAssembly build of it: nothing to download, nothing to spawn. It talks to Postgres
 * through the same adapter as the client.
 */
import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { PrismaPg } from '@prisma/adapter-pg';
import {
  bindMigrationAwareSqlAdapterFactory,
  ColumnTypeEnum,
  type SqlMigrationAwareDriverAdapterFactory,
} from '@prisma/driver-adapter-utils';
import type { SchemaEngine, SchemasContainer } from '@prisma/schema-engine-wasm';
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg';
import pg from 'pg';

/** The part of the global that is needed here: its full types come only with those of a browser. */
declare const WebAssembly: {
  instantiate(
    module: Uint8Array,
    imports: Record<string, object>,
  ): Promise<{ instance: { exports: Record<string, unknown> } }>;
};

/** Everything in the database is ours to manage. */
export const NO_FILTER = { externalTables: [], externalEnums: [] };

/** Runs `work` with an engine bound to one single connection, and closes both afterwards. */
export async function withSchemaEngine<T>(
  databaseUrl: string,
  schema: SchemasContainer,
  work: (engine: SchemaEngine, connection: pg.Pool) => Promise<T>,
): Promise<T> {
  await loaded();
  // A pool, for that is what the adapter takes; of one connection that is never given up, so that a transaction opened
  // on it holds everything the engine does.
  const connection = new pg.Pool({ connectionString: databaseUrl, max: 1, idleTimeoutMillis: 0 });
  try {
    const datamodels = schema.files.map(({ path, content }): [string, string] => [path, content]);
    const adapter = bindMigrationAwareSqlAdapterFactory(describingAdapter(connection));
    const engine = await bindings.SchemaEngine.new({ datamodels }, () => {}, adapter);
    try {
      return await work(engine, connection);
    } finally {
      engine.free();
    }
  } finally {
    await connection.end();
  }
}

let loading: Promise<void> | undefined;

/** Instantiates the module by hand: its own entry point imports a .wasm file, which Node 20 does not do unasked. */
function loaded(): Promise<void> {
  loading ??= (async () => {
    const glue = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg');
    const wasm = await readFile(glue.replace(/\.js$/, '.wasm'));
    const { instance } = await WebAssembly.instantiate(wasm, { './schema_engine_bg.js': importsOfEngine() });
    bindings.__wbg_set_wasm(instance.exports);
    const start = instance.exports.__wbindgen_start;
    if (typeof start === 'function') start();
  })();
  return loading;
}

/** The engine never clears the timer that bounds its wait for a lock: it would keep a finished process for 10 s. */
function importsOfEngine(): Record<string, unknown> {
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
 * Prisma's adapter over this connection, with two gaps closed.
 *
 * The catalogue has columns of the type "char", which the engine wants told apart from text and which the adapter
 * refuses. They pass the adapter under the name of a type the catalogue does not use, and get their own back behind it.
 *
 * After an error the pool goes on with a new connection, outside of any transaction. Nothing more is sent then, and the
 * engine, which tries to take notes, hears the first error again instead of one about its notes.
 */
function describingAdapter(connection: pg.Pool): SqlMigrationAwareDriverAdapterFactory {
  const query = connection.query.bind(connection);
  let failure: unknown;
  const queryUntilFailure = async (what: string | pg.QueryArrayConfig) => {
    if (failure !== undefined) throw failure;
    try {
      // Told apart for the compiler's sake: these are two overloads.
      return typeof what === 'string' ? await query(what) : await query(what);
    } catch (error) {
      failure = error;
      throw error;
    }
  };
  Object.defineProperty(connection, 'query', {
    value: async (what: string | pg.QueryArrayConfig) => {
      const result = await queryUntilFailure(what);
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
      adapter.queryRaw = async (what) => {
        const result = await queryRaw(what);
        const columnTypes = result.columnTypes.map((type) =>
          type === ColumnTypeEnum.Time ? ColumnTypeEnum.Character : type,
        );
        return { ...result, columnTypes };
      };
      return adapter;
    },
    // The adapter's own shadow database is the main one when the connection was given as a URL: it must not be used.
    connectToShadowDb() {
      return Promise.reject(new Error('Amble compares schemas in a scratch database of its own.'));
    },
  };
}
