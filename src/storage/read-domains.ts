/** What was last written down of domains, for people to read. */
import type { StoredDomain } from '../../workflows/throttle/types.ts';
import type { Database } from './database.ts';
import { toStored } from './domains.ts';

export interface KnownDomain {
  name: string;
  stored: StoredDomain;
  writtenAt: Date;
}

export async function readDomain(db: Database, name: string): Promise<KnownDomain | null> {
  const row = await db.domain.findUnique({ where: { name } });
  return row && { name, stored: toStored(row), writtenAt: row.updatedAt };
}

/** The latest heard of first. */
export async function listDomains(db: Database, most: number): Promise<KnownDomain[]> {
  const rows = await db.domain.findMany({ orderBy: [{ updatedAt: 'desc' }, { name: 'asc' }], take: most });
  return rows.map((row) => ({ name: row.name, stored: toStored(row), writtenAt: row.updatedAt }));
}
