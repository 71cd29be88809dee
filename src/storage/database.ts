/** The connection to Postgres: a Prisma client and raw SQL on one pool. */
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaClient } from './generated/client.ts';
import { BY_INDEX, createRawSql, IN_INDEX_ORDER, type OnStatement, type RawSql, TYPES } from './raw-sql.ts';

export type Database = Omit<PrismaClient, keyof RawSql> & RawSql;

/** Longer than Prisma's defaults of 2 s and 5 s, for a busy machine. */
const TRANSACTIONS = { maxWait: 10_000, timeout: 30_000 };

/**
 * Longer than any statement may take: a statement without an answer by then was lost by the network. Neither Prisma nor pg
 * retries anything, which is intended: Temporal retries the whole step.
 */
const QUERY_TIMEOUT_MS = 60_000;

export interface DatabaseOptions {
  connections?: number;
  /** Its statements may sort what they read. */
  forReports?: boolean;
  /** For tests that inspect the statements. */
  onStatement?: OnStatement;
  /** Called when a statement of raw SQL has ended. */
  onDuration?: (tookMs: number) => void;
}

export function openDatabase(
  databaseUrl: string,
  {
    connections = 10,
    forReports = false,
    onStatement = () => {},
    onDuration = () => {},
  }: DatabaseOptions = {},
): Database {
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: connections,
    connectionTimeoutMillis: TRANSACTIONS.maxWait,
    query_timeout: QUERY_TIMEOUT_MS,
    keepAlive: true,
    types: TYPES,
    onConnect: (client) => client.query(forReports ? BY_INDEX : `${BY_INDEX}; ${IN_INDEX_ORDER}`),
  });
  // An idle connection broke. The next query opens another one, or reports why it cannot.
  pool.on('error', () => {});
  const adapter = new PrismaPg(pool, { disposeExternalPool: true });
  const client = new PrismaClient({ adapter, transactionOptions: TRANSACTIONS });
  return overlay(client, createRawSql(pool, { onStatement, onDuration }));
}

/** `base` with some of its members replaced. A Prisma client is a proxy itself and cannot be copied. */
function overlay<Base extends object, Over extends object>(
  base: Base,
  over: Over,
): Omit<Base, keyof Over> & Over;
function overlay(base: object, over: object): object {
  return new Proxy(base, {
    get: (target, key) => Reflect.get(key in over ? over : target, key),
  });
}
