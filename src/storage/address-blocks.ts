/**
 * The limits per address, over all crawls and workers: how soon after each other requests begin, and how many are open. One
 * statement before each request, which locks one row. By the database's clock, which all workers share.
 */
import type { Database } from './database.ts';

export interface AddressReservation {
  block: string;
  leaseId: string;
  /** The request must begin within this time after its turn, and the gap is counted from the end of it. */
  windowMs: number;
  /** To the next request to the block. */
  gapMs: number;
  maxOpen: number;
  /** The request is given up rather than begun later than this from now. */
  latestMs: number;
  /** The request has ended for certain after this time, whatever happens to its worker. */
  openForMs: number;
  /** Leases of requests to the block that have ended. */
  ended: readonly string[];
}

/** Returns in how many ms it is the request's turn. null: not within `latestMs`, or too many requests are open. */
export async function reserveAddress(
  db: Database,
  { block, leaseId, windowMs, gapMs, maxOpen, latestMs, openForMs, ended }: AddressReservation,
): Promise<number | null> {
  // A lease that reserves again replaces its first reservation.
  const notOpen = [...ended, leaseId];
  const heldMs = windowMs + gapMs;
  const [reserved] = await db.$queryRaw<{ wait_ms: number }[]>`
    INSERT INTO address_blocks AS known (block, free_at, open_requests)
    VALUES (${block}, clock_timestamp() + ${heldMs}::float8 * interval '1 ms',
            jsonb_build_object(${leaseId}::text, extract(epoch FROM clock_timestamp()) + ${openForMs}::float8 / 1000))
    ON CONFLICT (block) DO UPDATE SET
      free_at = greatest(known.free_at, clock_timestamp()) + ${heldMs}::float8 * interval '1 ms',
      open_requests = excluded.open_requests || coalesce(
        (SELECT jsonb_object_agg(lease, until) FROM jsonb_each(known.open_requests - ${notOpen}::text[]) AS open(lease, until)
         WHERE until::float8 > extract(epoch FROM clock_timestamp())), '{}')
    WHERE known.free_at <= clock_timestamp() + ${latestMs}::float8 * interval '1 ms'
      AND (SELECT count(*) FROM jsonb_each(known.open_requests - ${notOpen}::text[]) AS open(lease, until)
           WHERE until::float8 > extract(epoch FROM clock_timestamp())) < ${maxOpen}
    RETURNING (extract(epoch FROM free_at - clock_timestamp()) * 1000 - ${heldMs})::float8 AS wait_ms`;
  return reserved === undefined ? null : Math.max(0, reserved.wait_ms);
}

/** Frees the places of requests that have ended, of many blocks at once. */
export async function endRequests(
  db: Database,
  ended: readonly { block: string; leaseId: string }[],
): Promise<void> {
  const [blocks, leases] = [ended.map(({ block }) => block), ended.map(({ leaseId }) => leaseId)];
  // Locked in one order, so that two workers do not deadlock.
  await db.$executeRaw`
    WITH ended AS (SELECT block, array_agg(lease) AS leases FROM unnest(${blocks}::text[], ${leases}::text[]) AS one(block, lease) GROUP BY block),
         locked AS (SELECT block FROM address_blocks WHERE block = ANY(${blocks}::text[]) ORDER BY block FOR UPDATE)
    UPDATE address_blocks AS known SET open_requests = known.open_requests - ended.leases
    FROM ended JOIN locked USING (block) WHERE known.block = ended.block`;
}
