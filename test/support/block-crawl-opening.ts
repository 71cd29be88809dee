/** Blocks crawls that start meanwhile in the middle of being opened. */
import { expect } from 'vitest';
import type { Database } from '../../src/storage/database.ts';

export interface BlockedOpening {
  /** Returns once this many are blocked. */
  untilBlocked(openings: number): Promise<void>;
}

export function blockCrawlOpening<T>(db: Database, act: (opening: BlockedOpening) => Promise<T>): Promise<T> {
  return db.inTransaction(async (tx) => {
    await tx.$executeRaw`LOCK TABLE crawls IN SHARE MODE`;
    const waiting = async () => {
      const rows = await tx.$queryRaw<unknown[]>`
        SELECT 1 FROM pg_locks WHERE relation = 'crawls'::regclass AND NOT granted
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`;
      return rows.length;
    };
    return act({
      untilBlocked: (openings) => expect.poll(waiting, { timeout: 15_000 }).toBe(openings),
    });
  });
}
