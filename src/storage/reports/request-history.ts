/** The last requests to one domain, of all crawls, with the gap between each and the one before it. */
import type { Database } from '../database.ts';

export interface PastRequest {
  startedAt: Date;
  /** 'robots' or 'page'. */
  purpose: string;
  statusCode: number | null;
  durationMs: number;
  /** Since the start of the request before it. null: it is the first on record. */
  gapMs: number | null;
  /** The gap that was required. */
  requiredMs: number;
}

/**
 * Asks for the last rows up to a point, which only the index of domain and time can answer: while the planner takes the table for
 * tiny, it would read all requests of the domain and sort them. In order of time. `until`: without the requests after it.
 */
export async function readRequestHistory(
  db: Database,
  domain: string,
  limit: number,
  until: Date = new Date(8.64e15),
): Promise<PastRequest[]> {
  const rows = await db.$queryRaw<PastRequest[]>`
    SELECT started_at AS "startedAt", purpose::text, status_code AS "statusCode", duration_ms AS "durationMs",
           min_gap_ms AS "requiredMs",
           (extract(epoch FROM started_at - lead(started_at) OVER (ORDER BY started_at DESC)) * 1000)::float8 AS "gapMs"
    FROM (SELECT * FROM requests WHERE (domain, started_at) <= (${domain}, ${until})
          ORDER BY domain DESC, started_at DESC LIMIT ${limit + 1}) AS latest
    WHERE domain = ${domain} ORDER BY started_at DESC`;
  // One more is read, for the gap before the first.
  return rows.slice(0, limit).reverse();
}
