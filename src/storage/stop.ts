/**
 * Stopping everything is one row. The statements that pages need anyway read it: while it is set, the pages of every running crawl
 * behave as if it were paused, and no request passes a gate. Nothing else changes, so lifting it restores what was before.
 */
import type { OperatorOrder } from '../core/order.ts';
import { NO_EFFECT } from '../core/order.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';
import { insertOrder, type RecordedOrder, readOrder } from './orders.ts';

/** Whether everything is stopped, for another statement. */
export const IS_STOPPED = Prisma.sql`EXISTS (SELECT 1 FROM installation WHERE id = 1 AND stopped_by IS NOT NULL)`;

/** The status of a crawl as its pages see it: `Stopped` if it would run. */
export function statusForPages(status: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`CASE WHEN ${status} = 'Running' AND ${IS_STOPPED} THEN 'Stopped' ELSE ${status}::text END`;
}

const EVERYTHING = { crawlId: null, domain: null };

/**
 * Once this has returned, no request passes a gate: the lock waits for those that are passing, and those behind it see the order.
 * A request that has passed may still start: see `countStarting`.
 */
export async function stopEverything(db: Database, order: OperatorOrder): Promise<void> {
  await db.inTransaction(async (tx) => {
    await tx.$executeRaw`LOCK TABLE domains IN SHARE MODE`;
    const effect = Prisma.sql`
      CASE WHEN ${IS_STOPPED} THEN ${NO_EFFECT}
           ELSE (SELECT count(*) FROM crawls WHERE status = 'Running') || ' running crawls stopped' END`;
    await tx.$executeRaw(insertOrder(order, EVERYTHING, effect));
    await tx.$executeRaw`UPDATE installation SET stopped_by = ${order.id} WHERE id = 1`;
  });
}

/** Returns whether anything was stopped. */
export async function liftStop(db: Database, order: OperatorOrder): Promise<boolean> {
  const effect = Prisma.sql`(SELECT count(*) FROM crawls WHERE status = 'Running') || ' crawls run again'`;
  const lifted = await db.$executeRaw`
    WITH lifted AS (
      UPDATE installation SET stopped_by = NULL WHERE id = 1 AND stopped_by IS NOT NULL RETURNING id)
    ${insertOrder(order, EVERYTHING, effect, Prisma.sql`FROM lifted`)}`;
  return lifted === 1;
}

/** Who stopped everything, and why. null: nothing is stopped. */
export async function readStop(db: Database): Promise<RecordedOrder | null> {
  const row = await db.installation.findFirst({ select: { stoppedBy: true } });
  return row?.stoppedBy ? readOrder(db, row.stoppedBy) : null;
}

/** Requests that have passed a gate, and may start at any moment or may have started. */
export async function countStarting(db: Database): Promise<number> {
  const [row] = await db.$queryRaw<{ starting: number }[]>`
    SELECT count(*)::int AS starting FROM domains, jsonb_array_elements(gate -> 'open') AS request
    WHERE gate -> 'open' <> '[]' AND request ->> 'startedAt' IS NULL
      AND (request ->> 'startBy')::float8 > extract(epoch FROM clock_timestamp()) * 1000`;
  return row?.starting ?? 0;
}
