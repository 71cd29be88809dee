/**
 * The domains that set the end of a crawl: those with the most time left, which is their open pages times the gap. A second that such
 * a domain loses makes the whole crawl a second longer; the others have time to spare.
 */
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import { domainCounts } from '../reports/counts.ts';

/** If more domains have about as much time left, none of them sets the end: all lead, or rather none does. */
const MAX_LEADING = 4;

/** Of the longest time left. */
const LEADING_PART = 0.5;

export async function readLeadingDomains(
  db: Database,
  crawlId: string,
  delayMs: number,
): Promise<ReadonlySet<string>> {
  const longest = await db.$queryRaw<{ domain: string; leftMs: number }[]>`
    SELECT counted.domain, counted.open * greatest(${delayMs}, coalesce(known.min_gap_ms, 0))::float8 AS "leftMs"
    FROM (${domainCounts(crawlId, Prisma.sql`open`, MAX_LEADING + 1)}) AS counted
    LEFT JOIN domains known ON known.name = counted.domain
    ORDER BY "leftMs" DESC LIMIT ${MAX_LEADING + 1}`;
  const longestMs = longest[0]?.leftMs ?? 0;
  const leading = longest.filter(({ leftMs }) => leftMs > 0 && leftMs >= LEADING_PART * longestMs);
  return new Set(leading.length > MAX_LEADING ? [] : leading.map(({ domain }) => domain));
}
