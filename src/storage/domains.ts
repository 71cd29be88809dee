/** The state of throttles, kept from one execution to the next. The gate in the same row is written by gate.ts. */

import { type Gate, lastStartOf } from '../core/gate.ts';
import {
  type DomainStats,
  emptyStats,
  type OpenedDomain,
  type OriginOutage,
  type StoredDomain,
} from '../core/slot-protocol.ts';
import type { Database } from './database.ts';
import type { Domain } from './generated/client.ts';

/** Reads the row, and makes sure that writes of earlier executions are ignored from now on. */
export async function openDomain(db: Database, name: string): Promise<OpenedDomain> {
  const row = await db.domain.upsert({
    where: { name },
    create: { name, epoch: 1 },
    update: { epoch: { increment: 1 }, revision: { increment: 1 } },
  });
  return { stored: row.epoch > 1 ? storedDomainFromRow(row) : null, epoch: row.epoch };
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
      revision: { increment: 1 },
      validFrom: stored.validFrom,
      minGapMs: stored.minGapMs,
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
    return row ? [knownDomainFromRow(row)] : [];
  });
}

function knownDomainFromRow(row: Domain): KnownDomain {
  // Only gate.ts writes it.
  const gate = row.gate as unknown as Gate;
  const { name, updatedAt: writtenAt } = row;
  return { name, stored: storedDomainFromRow(row), lastStart: lastStartOf(gate), writtenAt };
}
