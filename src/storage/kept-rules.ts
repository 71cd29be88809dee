/**
 * How many versions of a robots.txt are kept, as proof that each request was allowed when it was sent. A site that answers with another
 * 500 KiB each hour would fill the disk. An honest one has room for years of versions, or 40 days if it changes hourly.
 */
import { originOf } from '../urls/index.ts';
import type { Database } from './database.ts';
import { Prisma } from './generated/client.ts';

const MAX_VERSIONS = 1_000;
const MAX_BYTES = 4 * 1024 * 1024;
/** However long they are: a request may still be judged by the rules before the last. */
const MIN_VERSIONS = 3;

/** The ids of versions to be dropped when another one is added. */
export function surplusVersions(origin: string, newBody: string | null): Prisma.Sql {
  const newBytes = Buffer.byteLength(newBody ?? '');
  return Prisma.sql`
    SELECT id FROM (
      SELECT id, row_number() OVER newest AS place, sum(coalesce(octet_length(body), 0)) OVER newest AS bytes
      FROM robots_rules WHERE origin = ${origin} WINDOW newest AS (ORDER BY id DESC)) AS versions
    WHERE place >= ${MAX_VERSIONS} OR (place >= ${MIN_VERSIONS} AND bytes + ${newBytes} > ${MAX_BYTES})`;
}

/** Whether rules that are not on record were dropped: then the origin of the URL has many others, all of them newer. */
export async function wereDropped(db: Database, id: string, url: string): Promise<boolean> {
  const [kept] = await db.$queryRaw<{ versions: bigint; oldest: bigint | null }[]>`
    SELECT count(*) AS versions, min(id) AS oldest FROM robots_rules WHERE origin = ${originOf(url)}`;
  return kept?.oldest != null && kept.versions >= MIN_VERSIONS && BigInt(id) < kept.oldest;
}
