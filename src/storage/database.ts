/** The one way to Postgres: a Prisma client over a pg pool. */
import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from './generated/client.ts';

export type Database = PrismaClient;

export function openDatabase(databaseUrl: string, { connections = 10 } = {}): Database {
  return new PrismaClient({ adapter: new PrismaPg({ connectionString: databaseUrl, max: connections }) });
}
