/** The state of throttles, kept from one execution to the next. Only the throttle of a domain writes its row. */

import {
  type DomainStats,
  emptyStats,
  type OpenedDomain,
  type OriginOutage,
  type PersistedBounds,
  type StoredDomain,
} from '../core/slot-protocol.ts';
import type { Database } from './database.ts';
import type { Domain } from './generated/client.ts';

/**
 * Reads the row and marks it as not clean in one transaction: from now on a crash must not look like an orderly end. The
 * persisted bounds cover the leases of this execution and, after a crash, those of the last one, which may still be in use.
 */
export async function openDomain(db: Database, name: string, bounds: PersistedBounds): Promise<OpenedDomain> {
  return db.$transaction(async (tx) => {
    await tx.$executeRaw`INSERT INTO domains (name, epoch) VALUES (${name}, 0) ON CONFLICT DO NOTHING`;
    await tx.$executeRaw`SELECT 1 FROM domains WHERE name = ${name} FOR UPDATE`;
    const row = await tx.domain.findUniqueOrThrow({ where: { name } });
    const seen = row.epoch > 0;
    const persistedBounds = {
      maxGapMs: Math.max(row.maxGapMs, bounds.maxGapMs),
      maxStartWindowMs: row.clean
        ? bounds.maxStartWindowMs
        : Math.max(row.maxStartWindowMs, bounds.maxStartWindowMs),
    };
    const { epoch } = await tx.domain.update({
      where: { name },
      data: {
        clean: false,
        epoch: { increment: 1 },
        maxGapMs: persistedBounds.maxGapMs,
        maxStartWindowMs: persistedBounds.maxStartWindowMs,
        updatedAt: new Date(),
      },
    });
    return { stored: seen ? storedDomainFromRow(row) : null, persistedBounds, epoch };
  });
}

/** A write with an older epoch is ignored: it would undo what the next execution of the throttle has learned. */
export async function saveDomain(
  db: Database,
  name: string,
  epoch: number,
  stored: StoredDomain,
): Promise<void> {
  await db.domain.updateMany({
    where: { name, epoch },
    data: {
      clean: stored.clean,
      lastStartAt: stored.lastStart === null ? null : new Date(stored.lastStart),
      maxGapMs: stored.maxGapMs,
      maxStartWindowMs: stored.maxStartWindowMs,
      delayMinMs: stored.delay?.minMs ?? null,
      delayMaxMs: stored.delay?.maxMs ?? null,
      paused: stored.paused,
      backoffMs: stored.backoffMs,
      blockedUntil: stored.blockedUntil === null ? null : new Date(stored.blockedUntil),
      crawlDelays: stored.crawlDelays,
      outages: Object.fromEntries(
        Object.entries(stored.outages).map(([origin, outage]) => [origin, { ...outage }]),
      ),
      stats: { ...stored.stats },
      updatedAt: new Date(),
    },
  });
}

function storedDomainFromRow(row: Domain): StoredDomain {
  return {
    clean: row.clean,
    lastStart: row.lastStartAt?.getTime() ?? null,
    maxGapMs: row.maxGapMs,
    maxStartWindowMs: row.maxStartWindowMs,
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
  writtenAt: Date;
}

export async function readDomain(db: Database, name: string): Promise<KnownDomain | null> {
  const row = await db.domain.findUnique({ where: { name } });
  return row && { name, stored: storedDomainFromRow(row), writtenAt: row.updatedAt };
}

/** Domains that are paused, blocked by a Retry-After or down come first, then the most recently updated ones. `limit` null: all. */
export async function listDomains(db: Database, limit: number | null): Promise<KnownDomain[]> {
  const inOrder = await db.$queryRaw<{ name: string }[]>`
    SELECT name FROM domains
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
    return row ? [{ name, stored: storedDomainFromRow(row), writtenAt: row.updatedAt }] : [];
  });
}
