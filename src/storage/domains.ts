/** What a throttle learned, kept over its end. Only the throttle of a domain writes its row. */
import { emptyStats } from '../../workflows/throttle/state.ts';
import type { DomainStats, StoredDomain } from '../../workflows/throttle/types.ts';
import type { Database } from './database.ts';
import type { Domain } from './generated/client.ts';

/** Reads the row and marks it unclean, in one step: from now on a crash must not look like an orderly end. */
export async function openDomain(db: Database, name: string): Promise<StoredDomain | null> {
  return db.$transaction(async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(hashtextextended(${name}, 0))`;
    const row = await tx.domain.findUnique({ where: { name } });
    await tx.domain.upsert({
      where: { name },
      create: { name, clean: false },
      update: { clean: false, updatedAt: new Date() },
    });
    return row === null ? null : toStored(row);
  });
}

export async function saveDomain(db: Database, name: string, stored: StoredDomain): Promise<void> {
  const data = {
    clean: stored.clean,
    lastStartAt: stored.lastStart === null ? null : new Date(stored.lastStart),
    lastGapMs: stored.lastGapMs,
    delayMinMs: stored.delay?.minMs ?? null,
    delayMaxMs: stored.delay?.maxMs ?? null,
    paused: stored.paused,
    backoffMs: stored.backoffMs,
    crawlDelays: stored.crawlDelays,
    stats: { ...stored.stats },
    updatedAt: new Date(),
  };
  await db.domain.upsert({ where: { name }, create: { name, ...data }, update: data });
}

function toStored(row: Domain): StoredDomain {
  return {
    clean: row.clean,
    lastStart: row.lastStartAt?.getTime() ?? null,
    lastGapMs: row.lastGapMs,
    delay:
      row.delayMinMs === null || row.delayMaxMs === null
        ? null
        : { minMs: row.delayMinMs, maxMs: row.delayMaxMs },
    paused: row.paused,
    backoffMs: row.backoffMs,
    // Written by saveDomain alone.
    crawlDelays: row.crawlDelays as Record<string, number>,
    stats: { ...emptyStats(), ...(row.stats as Partial<DomainStats>) },
  };
}
