/** The one way to Postgres: a Prisma client over a pg pool. */
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';

export type Database = PrismaClient;

/** More than Prisma's own 2 s and 5 s: a page with 10,000 links on a busy machine must get through at some time. */
const TRANSACTIONS = { maxWait: 10_000, timeout: 30_000 };

export function openDatabase(databaseUrl: string, { connections = 10 } = {}): Database {
  const adapter = new PrismaPg({ connectionString: databaseUrl, max: connections });
  return new PrismaClient({ adapter, transactionOptions: TRANSACTIONS });
}
