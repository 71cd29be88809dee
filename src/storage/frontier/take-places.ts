/**
 * Counts the pages of a family as they enter a crawl, and says which find it full. Only URLs that the crawl does not have
 * yet are counted, so a page that links to what is known, as most do, writes nothing here. Two transactions that find the
 * same URL at the same moment count it twice: the limits are there against sites without end, and may err by a few.
 */
import type { UrlQuota } from '../../urls/index.ts';
import type { Queries } from '../raw-sql.ts';

export interface Taker {
  /** Of its URL. */
  hash: Buffer;
  place: UrlQuota;
}

/** The takers for whom there is no room. Rows are locked in one order, and before those of pages: see `finish`. */
export async function takePlaces<T extends Taker>(
  tx: Queries,
  crawlId: string,
  takers: readonly T[],
): Promise<Set<T>> {
  if (takers.length === 0) return new Set();
  const refused = await tx.$queryRaw<{ nr: bigint }[]>`
    WITH fresh AS (
      SELECT nr, decode(place, 'hex') AS place, name, most,
             row_number() OVER (PARTITION BY place ORDER BY nr) AS nth
      FROM unnest(${takers.map(({ hash }) => hash.toString('hex'))}::text[],
                  ${takers.map(({ place }) => place.hash.toString('hex'))}::text[],
                  ${takers.map(({ place }) => place.name)}::text[], ${takers.map(({ place }) => place.limit)}::int[])
           WITH ORDINALITY AS taker (hash, place, name, most, nr)
      WHERE NOT coalesce(
        -- The first from here on, which only its own index can say: to look for what is equal any index of the crawl
        -- seems as good while it is small, and Postgres may keep to that.
        (SELECT (crawl_id, url_hash) = (${crawlId}, decode(taker.hash, 'hex')) FROM pages
         WHERE (crawl_id, url_hash) >= (${crawlId}, decode(taker.hash, 'hex'))
         ORDER BY crawl_id, url_hash LIMIT 1), false)),
    judged AS (
      SELECT fresh.*, coalesce(known.url_count, 0) + nth <= most AS fits
      FROM fresh LEFT JOIN crawl_url_counts known ON known.crawl_id = ${crawlId} AND known.group_hash = place),
    counted AS (
      INSERT INTO crawl_url_counts (crawl_id, group_hash, group_name, url_count)
      SELECT ${crawlId}, place, min(name), count(*)::int FROM judged WHERE fits GROUP BY place ORDER BY place
      ON CONFLICT (crawl_id, group_hash) DO UPDATE SET url_count = crawl_url_counts.url_count + excluded.url_count)
    SELECT nr FROM judged WHERE NOT fits`;
  const numbers = new Set(refused.map(({ nr }) => Number(nr)));
  return new Set(takers.filter((_, i) => numbers.has(i + 1)));
}
