/** What is left to do of a crawl on each domain, and how fast its requests may follow each other. */
import { politenessFor } from '../../core/domain-politeness.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import type { Database } from '../database.ts';
import { Prisma } from '../generated/client.ts';
import { domainCounts } from './counts.ts';

export interface DomainRemaining {
  domain: string;
  found: number;
  open: number;
  /** Expected between two requests: the longest of what applies, with ranges at their middle. */
  gapMs: number;
  /** What the site itself makes of it, which no order shortens: Crawl-delay, or backoff. */
  siteGapMs: number;
  paused: boolean;
  down: boolean;
  /** End of a Retry-After. null: none. */
  blockedUntil: Date | null;
}

const MAX_DOMAINS = 2_000;

interface Row extends Omit<DomainRemaining, 'gapMs'> {
  minGapMs: number;
  operatorMs: number;
}

/** The domains with the most open pages, in no order. */
export async function readRemaining(
  db: Database,
  crawlId: string,
  settings: CrawlSettings,
): Promise<DomainRemaining[]> {
  const rows = await db.$queryRaw<Row[]>`
    SELECT counted.domain, counted.found, counted.open,
           coalesce(domain.min_gap_ms, 0) AS "minGapMs",
           greatest(coalesce(domain.backoff_ms, 0), coalesce((
             SELECT max(delay.value::float8) FROM jsonb_each_text(domain.crawl_delays) AS delay), 0)) AS "siteGapMs",
           coalesce((domain.delay_min_ms + domain.delay_max_ms) / 2, 0) AS "operatorMs",
           coalesce(domain.paused, false) AS paused,
           CASE WHEN domain.blocked_until > now() THEN domain.blocked_until END AS "blockedUntil",
           EXISTS (SELECT 1 FROM jsonb_each(domain.outages) AS outage
                   WHERE (outage.value ->> 'failures')::int > 0) AS down
    FROM (${domainCounts(crawlId, Prisma.sql`open`, MAX_DOMAINS)}) AS counted
    LEFT JOIN domains domain ON domain.name = counted.domain
    WHERE counted.open > 0`;
  return rows.map(({ operatorMs, minGapMs, ...row }) => {
    const { minMs, maxMs } = politenessFor(settings, row.domain).delay;
    return { ...row, gapMs: Math.max((minMs + maxMs) / 2, operatorMs, minGapMs) };
  });
}
