/** How many domains of a crawl cannot be worked on at the moment, and why. */
import type { Database } from '../database.ts';

export interface Obstacles {
  paused: number;
  /** Domains with an origin that cannot be connected to. */
  down: number;
  /** Domains in a Retry-After. */
  blocked: number;
}

export const NO_OBSTACLES: Obstacles = { paused: 0, down: 0, blocked: 0 };

/** Domains that are read, of all that are paused, blocked, down or backing off. */
const MAX_DOMAINS = 2_000;

/** By crawl: domains on which it had open pages at its last sweep. Those without any obstacle are not read. */
export async function readObstacles(
  db: Database,
  crawlIds: readonly string[],
): Promise<Map<string, Obstacles>> {
  const rows = await db.$queryRaw<(Obstacles & { crawl: string })[]>`
    SELECT counted.crawl_id AS crawl, count(*) FILTER (WHERE paused)::int AS paused,
           count(*) FILTER (WHERE blocked_until > now())::int AS blocked,
           count(*) FILTER (WHERE EXISTS (SELECT 1 FROM jsonb_each(outages) AS outage
                                          WHERE (outage.value ->> 'failures')::int > 0))::int AS down
    FROM (SELECT name, paused, blocked_until, outages FROM domains
          WHERE paused OR backoff_ms > 0 OR blocked_until IS NOT NULL OR outages <> '{}'::jsonb LIMIT ${MAX_DOMAINS}) AS domain
    JOIN crawl_domain_counts counted ON counted.domain = domain.name AND counted.crawl_id = ANY(${[...crawlIds]}) AND counted.open > 0
    GROUP BY counted.crawl_id`;
  return new Map(rows.map(({ crawl, ...obstacles }) => [crawl, obstacles]));
}
