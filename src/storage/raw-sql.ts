/**
 * Raw SQL straight to the pool that Prisma uses too. The steps of a page are raw SQL from end to end, and on its way through
 * Prisma's client a statement costs three to four times the CPU.
 */
import pg from 'pg';
import { Prisma } from './generated/client.ts';

/** As Prisma has them, so that a function that takes these takes a transaction of Prisma's as well. */
export interface Queries {
  $queryRaw<T = unknown>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<T>;
  /** Gives the number of rows it concerned. */
  $executeRaw(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]): Promise<number>;
}

export interface RawSql extends Queries {
  /** All or nothing. The work uses the `tx` it is given, and is run again where Postgres gave it up in a deadlock. */
  atomically<T>(work: (tx: Queries) => Promise<T>): Promise<T>;
}

/** Told of every statement before it is sent. */
export type Heard = (statement: { text: string; values: unknown[] }) => void;

/** Prepared statements a connection keeps. The texts of this program are far fewer; this only bounds a mistake. */
const MOST_PREPARED = 500;

/** How often one transaction may be given up for another before that is somebody's mistake. */
const MOST_DEADLOCKS = 3;

/**
 * For every connection: by index wherever there is one. Statements are planned and kept when a crawl has begun, and Postgres takes it
 * for tiny until the next ANALYZE; to read all of it seems as good, and is done for each page again, however large it has
 * grown since. What cannot be done otherwise is then taken for so dear, before Postgres 18, that it would be compiled to
 * machine code, which takes longer than any of these statements.
 */
export const BY_INDEX = 'SET enable_seqscan = off; SET jit = off';

/**
 * A page with 10,000 links on a busy machine must get through; what takes longer than this is stuck. And the steps of a page do not
 * sort: what they ask for in the order of an index is read from that index.
 */
const BEGIN = "BEGIN; SET LOCAL statement_timeout = '30s'; SET LOCAL enable_sort = off";

export function rawSql(pool: pg.Pool, heard: Heard): RawSql {
  const run = runner(heard);
  return {
    ...queriesOver((statement) => run(pool, statement)),
    async atomically(work) {
      for (let time = 1; ; time += 1) {
        try {
          return await transaction(pool, (client) =>
            work(queriesOver((statement) => run(client, statement))),
          );
        } catch (error) {
          // Postgres has rolled it back to let another go on: nothing of it happened.
          if (!isDeadlock(error) || time > MOST_DEADLOCKS) throw error;
        }
      }
    },
  };
}

async function transaction<T>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<T>): Promise<T> {
  const client = await pool.connect();
  // Whoever waits for an answer hears that the connection broke; between two statements nobody does, and the next one will.
  const heardLater = (): void => {};
  client.on('error', heardLater);
  try {
    await client.query(BEGIN);
    const result = await work(client);
    await client.query('COMMIT');
    client.release();
    return result;
  } catch (error) {
    // A connection that cannot even roll back is not given to anybody else.
    client.release(isUnanswered(error) || !(await rollBack(client)));
    throw error;
  } finally {
    client.off('error', heardLater);
  }
}

function rollBack(client: pg.PoolClient): Promise<boolean> {
  return client.query('ROLLBACK').then(
    () => true,
    () => false,
  );
}

/** The network swallowed it without a word (see database.ts): a ROLLBACK would be waited for as long again. */
function isUnanswered(error: unknown): boolean {
  return error instanceof Error && error.message === 'Query read timeout';
}

function isDeadlock(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === '40P01';
}

/** 64-bit integers as Prisma gives them. */
export const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) =>
    oid === pg.types.builtins.INT8 ? BigInt : pg.types.getTypeParser(oid, format),
};

type Run = (statement: Prisma.Sql) => Promise<pg.QueryResult>;

function queriesOver(run: Run): Queries {
  return {
    async $queryRaw<T>(query: TemplateStringsArray | Prisma.Sql, ...values: unknown[]) {
      const { rows } = await run(toSql(query, values));
      // As with Prisma: only who wrote the statement can know what it returns.
      return rows as T;
    },
    $executeRaw: async (query, ...values) => (await run(toSql(query, values))).rowCount ?? 0,
  };
}

function toSql(query: TemplateStringsArray | Prisma.Sql, values: readonly unknown[]): Prisma.Sql {
  return query instanceof Prisma.Sql ? query : Prisma.sql(query, ...values);
}

/** Statements are prepared under a name each, so that Postgres reads and plans them once for a connection. */
function runner(heard: Heard) {
  const names = new Map<string, string>();
  const nameOf = (text: string): string | undefined => {
    const known = names.get(text);
    if (known !== undefined || names.size >= MOST_PREPARED) return known;
    const name = `amble_${names.size + 1}`;
    names.set(text, name);
    return name;
  };
  return (on: pg.Pool | pg.PoolClient, { text, values }: Prisma.Sql): Promise<pg.QueryResult> => {
    heard({ text, values });
    const name = nameOf(text);
    return on.query({ text, values, ...(name === undefined ? {} : { name }) });
  };
}
