/** How a site is treated, for its owner: times, statuses and rules, but no addresses of pages, and nothing about other hosts. */
import { politenessFor } from '../core/domain-politeness.ts';
import { findCrawl } from '../storage/crawls.ts';
import type { Database } from '../storage/database.ts';
import { readDomain } from '../storage/domains.ts';
import { type PastRequest, readRequestHistory } from '../storage/reports/request-history.ts';
import type { Period } from '../storage/reports/requests.ts';
import { type OriginRobots, readRobotsVersions } from '../storage/reports/robots-versions.ts';
import { forEachOrigin, type RulesInForce } from './domain-detail.ts';
import { type ProofSummary, proveDomain, summariseProof } from './domain-proof.ts';

export interface SiteTreatment {
  host: string;
  /** No request is on record, and none is being made. */
  unknown: boolean;
  /** The gap in force: what the domain asks for, and the delay of the crawl that sent the last request. null: not known yet. */
  gapMs: number | null;
  paused: boolean;
  /** Until then we wait, because the site asked us to. */
  waitsUntil: Date | null;
  /** The last ones, the latest first. */
  requests: Pick<PastRequest, 'startedAt' | 'statusCode' | 'gapMs' | 'purpose'>[];
  robots: (RulesInForce & Pick<OriginRobots, 'origin' | 'fetchedAt'>)[];
  proof: ProofSummary;
}

const MAX_REQUESTS = 20;

export async function readSiteTreatment(
  db: Database,
  { host, domain }: { host: string; domain: string },
  options: { period: Period; token: string },
): Promise<SiteTreatment> {
  const [known, requests, crawlDelayMs, robots, proof] = await Promise.all([
    readDomain(db, domain),
    readRequestHistory(db, domain, MAX_REQUESTS, { until: options.period.until, host }),
    readCrawlDelayMs(db, domain),
    readRobotsVersions(db, domain),
    proveDomain(db, domain, options.period),
  ]);
  const { paused = false, blockedUntil = null, minGapMs = 0 } = known?.stored ?? {};
  return {
    host,
    unknown: known === null,
    gapMs: crawlDelayMs === null && minGapMs === 0 ? null : Math.max(minGapMs, crawlDelayMs ?? 0),
    paused,
    waitsUntil: blockedUntil === null ? null : new Date(blockedUntil),
    requests: requests
      .toReversed()
      .map(({ startedAt, statusCode, gapMs, purpose }) => ({ startedAt, statusCode, gapMs, purpose })),
    robots: await forEachOrigin(
      robots.filter(({ origin }) => new URL(origin).hostname === host),
      options.token,
      ({ origin, fetchedAt }, rules) => ({ origin, fetchedAt, ...rules }),
    ),
    proof: summariseProof(proof),
  };
}

/** Of the crawl that sent the last request. null: none is on record, or the crawl is not. */
async function readCrawlDelayMs(db: Database, domain: string): Promise<number | null> {
  const last = await db.request.findFirst({
    where: { domain },
    orderBy: { startedAt: 'desc' },
    select: { crawlId: true },
  });
  const crawl = last && (await findCrawl(db, last.crawlId));
  return crawl && politenessFor(crawl.settings, domain).delay.minMs;
}
