/** Which URLs a crawl does not have yet. Most links of a page lead to pages that it has. */
import { Prisma } from '../generated/client.ts';
import type { Queries } from '../raw-sql.ts';

/**
 * Whether the crawl has the URL with this hash. Asks for the first row from here on, which only the unique index can answer: while
 * the planner takes the crawl for tiny, any index of the crawl looks as good for a comparison by equality.
 */
export function isKnown(crawlId: string, hash: Prisma.Sql): Prisma.Sql {
  return Prisma.sql`
    coalesce((SELECT (crawl_id, url_hash) = (${crawlId}, ${hash}) FROM pages
              WHERE (crawl_id, url_hash) >= (${crawlId}, ${hash})
              ORDER BY crawl_id, url_hash LIMIT 1), false)`;
}

/** `alongside`: a statement to send in the same round trip. */
export async function findNew<T extends { hash: Buffer }>(
  tx: Queries,
  crawlId: string,
  urls: readonly T[],
  alongside: Prisma.Sql,
): Promise<T[]> {
  const rows = await tx.$queryRaw<{ nr: bigint }[]>`
    WITH alongside AS (${alongside})
    SELECT nr FROM unnest(${urls.map(({ hash }) => hash.toString('hex'))}::text[]) WITH ORDINALITY AS url (hash, nr)
    WHERE NOT ${isKnown(crawlId, Prisma.sql`decode(url.hash, 'hex')`)}`;
  const numbers = new Set(rows.map(({ nr }) => Number(nr)));
  return urls.filter((_, i) => numbers.has(i + 1));
}
