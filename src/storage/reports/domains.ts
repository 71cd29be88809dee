/** What was last written down of domains, for people to read. */
import type { StoredDomain } from '../../core/slot-protocol.ts';
import type { Database } from '../database.ts';
import { toStored } from '../domains.ts';

export interface KnownDomain {
  name: string;
  stored: StoredDomain;
  writtenAt: Date;
}

export async function readDomain(db: Database, name: string): Promise<KnownDomain | null> {
  const row = await db.domain.findUnique({ where: { name } });
  return row && { name, stored: toStored(row), writtenAt: row.updatedAt };
}

/** Those that are held, by a person, a Retry-After or an outage, before all others; then the latest heard of first. `most` null: all. */
export async function listDomains(db: Database, most: number | null): Promise<KnownDomain[]> {
  const inOrder = await db.$queryRaw<{ name: string }[]>`
    SELECT name FROM domains
    ORDER BY paused DESC, coalesce(blocked_until > now(), false) DESC,
             EXISTS (SELECT 1 FROM jsonb_each(outages) AS outage
                     WHERE (outage.value ->> 'until')::float8 > extract(epoch FROM now()) * 1000) DESC,
             updated_at DESC, name
    LIMIT ${most}`;
  // A statement has room for some ten thousand names, and more may be on record.
  const name = most === null ? {} : { in: inOrder.map(({ name }) => name) };
  const rows = await db.domain.findMany({ where: { name } });
  const found = new Map(rows.map((row) => [row.name, row]));
  return inOrder.flatMap(({ name }) => {
    const row = found.get(name);
    return row ? [{ name, stored: toStored(row), writtenAt: row.updatedAt }] : [];
  });
}
