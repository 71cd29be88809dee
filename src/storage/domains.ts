/** The state of throttles, kept from one execution to the next. The gate in the same row is written by gate.ts. */

import { type Gate, lastStartOf } from '../core/gate.ts';
import type { CarriedOut } from '../core/order.ts';
import {
  type DomainStats,
  emptyStats,
  type OpenedDomain,
  type OriginOutage,
  type StoredDomain,
} from '../core/slot-protocol.ts';
import type { Database } from './database.ts';
import type { Domain } from './generated/client.ts';
import { insertCarriedOut } from './orders.ts';

/** Reads the row, and makes sure that writes of earlier executions are ignored from now on. */
export async function openDomain(db: Database, name: string): Promise<OpenedDomain> {
  const row = await db.domain.upsert({
    where: { name },
    create: { name, epoch: 1 },
    update: { epoch: { increment: 1 }, revision: { increment: 1 } },
  });
  return { stored: row.epoch > 1 ? storedDomainFromRow(row) : null, epoch: row.epoch };
}

/**
 * A write with an older epoch is ignored, and returns false: it would undo what the next execution of the throttle has learned. A
 * row that is older than the execution, or missing, was restored from a backup. Orders are recorded with what they have changed, or
 * not at all.
 */
export async function saveDomain(
  db: Database,
  name: string,
  epoch: number,
  stored: StoredDomain,
  orders: readonly CarriedOut[],
): Promise<boolean> {
  return db.inTransaction(async (tx) => {
    await tx.$executeRaw`INSERT INTO domains (name) VALUES (${name}) ON CONFLICT DO NOTHING`;
    const saved = await tx.$executeRaw`
      UPDATE domains SET epoch = ${epoch}::int, revision = revision + 1, valid_from = ${stored.validFrom}::int, min_gap_ms = ${stored.minGapMs}::int,
        delay_min_ms = ${stored.delay?.minMs ?? null}::int, delay_max_ms = ${stored.delay?.maxMs ?? null}::int,
        paused = ${stored.paused}, backoff_ms = ${stored.backoffMs}::int,
        blocked_until = ${stored.blockedUntil === null ? null : new Date(stored.blockedUntil)}::timestamptz,
        crawl_delays = ${stored.crawlDelays}::jsonb, outages = ${stored.outages}::jsonb, stats = ${stored.stats}::jsonb,
        updated_at = now()
      WHERE name = ${name} AND epoch <= ${epoch}`;
    if (saved === 0) return false;
    const target = { crawlId: null, domain: name };
    for (const order of orders) await tx.$executeRaw(insertCarriedOut(order, target));
    return true;
  });
}

function storedDomainFromRow(row: Domain): StoredDomain {
  return {
    validFrom: row.validFrom,
    minGapMs: row.minGapMs,
    delay:
      row.delayMinMs === null || row.delayMaxMs === null
        ? null
        : { minMs: row.delayMinMs, maxMs: row.delayMaxMs },
    paused: row.paused,
    backoffMs: row.backoffMs,
    blockedUntil: row.blockedUntil?.getTime() ?? null,
    // Only saveDomain writes these.
    crawlDelays: row.crawlDelays as Record<string, number>,
    outages: row.outages as unknown as Record<string, OriginOutage>,
    // {} until its first save.
    stats: { ...emptyStats(), ...(row.stats as Partial<DomainStats>) },
  };
}

/** A row, for people to read. */
export interface KnownDomain {
  name: string;
  stored: StoredDomain;
  /** When its last request started, or may have. null: none yet. */
  lastStart: number | null;
  writtenAt: Date;
}

export async function readDomain(db: Database, name: string): Promise<KnownDomain | null> {
  const row = await db.domain.findUnique({ where: { name } });
  return row && knownDomainFromRow(row);
}

/**
 * Domains whose name contains `find`. Those that are paused, blocked by a Retry-After or down come first, then the most recently
 * updated ones. `limit` null: all.
 */
export async function listDomains(db: Database, limit: number | null, find = ''): Promise<KnownDomain[]> {
  const inOrder = await db.$queryRaw<{ name: string }[]>`
    SELECT name FROM domains WHERE strpos(name, ${find}) > 0
    ORDER BY paused DESC, coalesce(blocked_until > now(), false) DESC,
             EXISTS (SELECT 1 FROM jsonb_each(outages) AS outage
                     WHERE (outage.value ->> 'until')::float8 > extract(epoch FROM now()) * 1000) DESC,
             updated_at DESC, name
    LIMIT ${limit}`;
  // A statement has room for some ten thousand names, and there may be more.
  const name = limit === null ? {} : { in: inOrder.map(({ name }) => name) };
  const rows = await db.domain.findMany({ where: { name } });
  const found = new Map(rows.map((row) => [row.name, row]));
  return inOrder.flatMap(({ name }) => {
    const row = found.get(name);
    return row ? [knownDomainFromRow(row)] : [];
  });
}

/** Those whose name contains `find`, by name, so that parts of a list fit together whatever happens to the domains. */
export async function listDomainsByName(
  db: Database,
  { limit, find, after }: { limit: number; find: string; after: string },
): Promise<KnownDomain[]> {
  const rows = await db.domain.findMany({
    where: { name: { gt: after, contains: find.replaceAll(/[\\%_]/g, '\\$&') } },
    orderBy: { name: 'asc' },
    take: limit,
  });
  return rows.map(knownDomainFromRow);
}

/** A number that nobody counts after is not worth the rows. */
export const MAX_COUNTED_DOMAINS = 10_000;

/** Up to that limit. */
export async function countDomains(db: Database, find: string): Promise<number> {
  const [row] = await db.$queryRaw<{ domains: number }[]>`
    SELECT count(*)::int AS domains
    FROM (SELECT 1 FROM domains WHERE strpos(name, ${find}) > 0 LIMIT ${MAX_COUNTED_DOMAINS}) AS domain`;
  return row?.domains ?? 0;
}

function knownDomainFromRow(row: Domain): KnownDomain {
  // Only gate.ts writes it.
  const gate = row.gate as unknown as Gate;
  const { name, updatedAt: writtenAt } = row;
  return { name, stored: storedDomainFromRow(row), lastStart: lastStartOf(gate), writtenAt };
}
