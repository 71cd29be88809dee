/** The stored state of domains, for people to read. */
import type { StoredDomain } from '../../core/slot-protocol.ts';
import type { Database } from '../database.ts';
import { storedDomainFromRow } from '../domains.ts';

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
