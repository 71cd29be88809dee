/**
 * Raw SQL on the pool that Prisma uses too. The steps of a page consist of raw SQL only, and through Prisma's client a statement
 * would cost three to four times the CPU.
 */
import pg from 'pg';
import { mapInTurns } from '../core/in-turns.ts';
import { Prisma } from './generated/client.ts';

/** The same methods as Prisma's, so that functions with this parameter also accept a Prisma transaction. */
export interface Queries {
  $queryRaw<T = unknown>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<T>;
  /** Returns the number of affected rows. */
  $executeRaw(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<number>;
}

export interface RawSql extends Queries {
  /** Runs `work` on the `tx` that it is given, in one transaction, and repeats it if Postgres aborted it in a deadlock. */
  inTransaction<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
}

/** Called with every statement before it is sent, BEGIN and COMMIT included. */
export type OnStatement = (statement: { text: string; values: unknown[] }) => void;

export interface StatementObserver {
  onStatement: OnStatement;
  /** Called when a statement has ended, BEGIN and COMMIT included. */
  onDuration: (tookMs: number) => void;
}

/** Prepared statements per connection. Amble has far fewer; this only limits the damage of a mistake. */
const MAX_PREPARED = 500;

/** More deadlocks in a row than this are a bug. */
const MAX_DEADLOCK_RETRIES = 3;

/**
 * Set on every connection. Until the next ANALYZE the planner takes a new crawl for tiny and prefers to scan all of it, for each
 * page, however large it has grown in the meantime: with 100,000 pages an admission then reads 200,000 rows instead of 150
 * (test/storage/rows-read.test.ts). Autovacuum comes once a minute, which is too late for a large sitemap. Before Postgres 18 a
 * plan that cannot avoid a scan then looks so expensive that it would be compiled, which takes longer than any statement here.
 */
export const BY_INDEX = 'SET enable_seqscan = off; SET jit = off';

/**
 * Set on the connections of all but reports, for the same reason: rows that a step wants in the order of an index are read from
 * that index. A report of few rows, in the order of an index of all pages, would read that whole index.
 */
export const IN_INDEX_ORDER = 'SET enable_sort = off';

/** A page with 10,000 links on a busy machine takes less than this timeout. */
const BEGIN = "BEGIN; SET LOCAL statement_timeout = '30s'";

export function createRawSql(pool: pg.Pool, observer: StatementObserver): RawSql {
  const run = createRunner(observer);
  return {
    ...createQueries((statement) => run(pool, statement)),
    async inTransaction(work) {
      for (let time = 1; ; time += 1) {
        try {
          return await transaction(pool, observer, (client) =>
            work(createQueries((statement) => run(client, statement))),
          );
        } catch (error) {
          // Postgres has rolled it back in favour of another transaction.
          if (!isDeadlock(error) || time > MAX_DEADLOCK_RETRIES) throw error;
        }
      }
    },
  };
}

async function transaction<T>(
  pool: pg.Pool,
  observer: StatementObserver,
  work: (client: pg.PoolClient) => Promise<T>,
): Promise<T> {
  const client = await pool.connect();
  const send = (text: string) => {
    observer.onStatement({ text, values: [] });
    return timed(observer, () => client.query(text));
  };
  // A broken connection rejects the statement that is running, or the next one.
  const ignore = (): void => {};
  client.on('error', ignore);
  try {
    await send(BEGIN);
    const result = await work(client);
    await send('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // A connection that cannot roll back is not reused.
    client.release(isReadTimeout(error) || !(await rollBack(client)));
    throw error;
  } finally {
    client.off('error', ignore);
  }
}

function rollBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

/** The network lost the statement (see database.ts): a ROLLBACK would time out as well. */
function isReadTimeout(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '40P01';
}

/** 64-bit integers as Prisma returns them. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(oid, format),
};

type RunStatement = (statement: Prisma.Sql) => Promise<pg.QueryResult>;

function createQueries(run: RunStatement): Queries {
  return {
    async $queryRaw<T>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) {
      const { rows } = await run(toSql(query, values));
      // As with Prisma, the caller states what the statement returns.
      return rows as T;
    },
    $executeRaw: async (query, ...values) => (await run(toSql(query, values))).rowCount ?? 0,
  };
}

function toSql(query: TemplateStringsArray | Prisma.Sql, values: readonly unknown[]): Prisma.Sql {
  return query instanceof Prisma.Sql ? query : Prisma.sql(query, ...values);
}

/** Prepares each statement under a name, so that Postgres parses it once per connection. */
function createRunner(observer: StatementObserver) {
  const names = new Map<string, string>();
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= MAX_PREPARED) return known;
    const name = `amble_${names.size + 1}`;
    names.set(text, name);
    return name;
  };
  return async (
    on: pg.Pool | pg.PoolClient,
    { text, values: given }: Prisma.Sql,
  ): Promise<pg.QueryResult> => {
    observer.onStatement({ text, values: given });
    const name = nameOf(text);
    const values = given.some(isLongList) ? await encodeLongLists(given) : given;
    return timed(observer, () => on.query({ text, values, ...(name === undefined ? {} : { name }) }));
  };
}

/** pg encodes all values of a statement at once. A page with 10,000 links has up to seven lists of that length. */
const LONG_LIST = 500;

type LongList = (string | number | null)[];

function isLongList(value: unknown): value is LongList {
  return Array.isArray(value) && value.length >= LONG_LIST && value.every(isPlain);
}

function isPlain(value: unknown): value is LongList[number] {
  return value === null || typeof value === 'string' || typeof value === 'number';
}

/** As pg would, in several turns of the event loop. */
async function encodeLongLists(values: readonly unknown[]): Promise<unknown[]> {
  const encoded: unknown[] = [];
  for (const value of values)
    encoded.push(isLongList(value) ? `{${(await mapInTurns(value, encodeElement)).join(',')}}` : value);
  return encoded;
}

function encodeElement(element: LongList[number]): string {
  if (element === null) return 'NULL';
  return typeof element === 'number' ? String(element) : `"${element.replace(/[\\"]/g, '\\$&')}"`;
}

async function timed<T>({ onDuration }: StatementObserver, query: () => Promise<T>): Promise<T> {
  const sentAt = performance.now();
  try {
    return await query();
  } finally {
    onDuration(performance.now() - sentAt);
  }
}
