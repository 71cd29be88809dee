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

/** Of a domain, for those of one of its hosts. */
const MAX_SCANNED = 2_000;

/**
 * Asks for the last rows up to a point, which only the index of domain and time can answer: while the planner takes the table for
 * tiny, it would read all requests of the domain and sort them. In order of time. `until`: without the requests after
 * it. `host`: only those to this host, of the last 2,000 to its domain; their gaps are those of the domain.
 */
export async function readRequestHistory(
  db: Database,
  domain: string,
  limit: number,
  { until = new Date(8.64e15), host = null }: { until?: Date; host?: string | null } = {},
): Promise<PastRequest[]> {
  // One more is read, for the gap before the first.
  const scanned = host === null ? limit + 1 : MAX_SCANNED;
  const rows = await db.$queryRaw<PastRequest[]>`
    SELECT "startedAt", purpose, "statusCode", "durationMs", "requiredMs", "gapMs"
    FROM (SELECT started_at AS "startedAt", purpose::text, status_code AS "statusCode", duration_ms AS "durationMs",
                 min_gap_ms AS "requiredMs",
                 (extract(epoch FROM started_at - lead(started_at) OVER (ORDER BY started_at DESC)) * 1000)::float8 AS "gapMs",
                 substring(url FROM '^https?://(\\[[^]]*\\]|[^/:?#]*)') AS host
          FROM (SELECT * FROM requests WHERE (domain, started_at) <= (${domain}, ${until})
                ORDER BY domain DESC, started_at DESC LIMIT ${scanned}) AS latest
          WHERE domain = ${domain}) AS request
    WHERE ${host}::text IS NULL OR host = ${host} ORDER BY "startedAt" DESC LIMIT ${limit}`;
  return rows.reverse();
}
