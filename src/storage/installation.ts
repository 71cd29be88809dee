/** What holds for this database for good. */
import { BadInput } from '../core/errors.ts';
import type { PolitenessUnit } from '../urls/index.ts';
import type { Database } from './database.ts';

/**
 * The first start stores the politeness key; a later one with another key is refused. Domains are named by the key, so with
 * two keys one server would have two gaps, and the delays and pauses stored under one name would not apply to the other.
 */
export async function claimPolitenessKey(db: Database, key: PolitenessUnit): Promise<void> {
  const stored = (await readPolitenessKey(db)) ?? (await storePolitenessKey(db, key));
  if (stored === key) return;
  throw new BadInput(
    `politenessKey is set to "${key}", but this database was set up with "${stored}": set politenessKey (AMBLE_POLITENESS_KEY) back to "${stored}", or use another database.`,
  );
}

async function readPolitenessKey(db: Database): Promise<PolitenessUnit | undefined> {
  return (await db.installation.findFirst())?.politenessKey;
}

/** Returns the key that is stored then: of two first starts at once, one stores its own. */
async function storePolitenessKey(db: Database, key: PolitenessUnit): Promise<PolitenessUnit> {
  await db.$executeRaw`
    INSERT INTO installation (politeness_key) VALUES (${key}::politeness_key) ON CONFLICT DO NOTHING`;
  return (await readPolitenessKey(db)) ?? key;
}
