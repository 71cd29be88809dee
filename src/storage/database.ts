/** The one way to Postgres: a Prisma client and raw SQL over one pool. */
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client.ts';
import { BY_INDEX, type Heard, type RawSql, rawSql, TYPES } from './raw-sql.ts';

export type Database = Omit<PrismaClient, keyof RawSql> & RawSql;

/** More than Prisma's own 2 s and 5 s: a busy machine must get through at some time. */
const TRANSACTIONS = { maxWait: 10_000, timeout: 30_000 };

/**
 * Neither Prisma nor pg tries anything again by itself, and so it should be: a step that failed is tried again as a whole, by
 * Temporal. Longer than any statement may take: what has not been answered by then never will be, because the network
 * swallowed it without a word.
 */
const ANSWER_WITHIN_MS = 60_000;

export interface DatabaseOptions {
  connections?: number;
  /** For tests that look at what is sent. */
  heard?: Heard;
}

export function openDatabase(
  databaseUrl: string,
  { connections = 10, heard = () => {} }: DatabaseOptions = {},
): Database {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connections,
    connectionTimeoutMillis: TRANSACTIONS.maxWait,
    query_timeout: ANSWER_WITHIN_MS,
    keepAlive: true,
    types: TYPES,
    onConnect: (client) => client.query(BY_INDEX),
  });
  // An idle connection that breaks has nobody to tell; the next query opens another or says why it cannot.
  pool.on('error', () => {});
  const adapter = new PrismaPg(pool, { disposeExternalPool: true });
  const client = new PrismaClient({ adapter, transactionOptions: TRANSACTIONS });
  return overlaid(client, rawSql(pool, heard));
}

/** `base` with some of its members replaced. A Prisma client is a proxy itself and cannot be copied. */
function overlaid<Base extends object, Over extends object>(
  base: Base,
  over: Over,
): Omit<Base, keyof Over> & Over;
function overlaid(base: object, over: object): object {
  return new Proxy(base, {
    get: (target, key) => Reflect.get(key in over ? over : target, key),
  });
}
