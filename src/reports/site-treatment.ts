/** How a site is treated, for its owner: times, statuses and rules, but no addresses of pages, and nothing about other hosts. */
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
  /** The gap that was kept before the last request. null: none was sent. */
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
  const [known, requests, robots, proof] = await Promise.all([
    readDomain(db, domain),
    readRequestHistory(db, domain, MAX_REQUESTS, options.period.until),
    readRobotsVersions(db, domain),
    proveDomain(db, domain, options.period),
  ]);
  const { paused = false, blockedUntil = null } = known?.stored ?? {};
  return {
    host,
    unknown: known === null,
    gapMs: requests.at(-1)?.requiredMs ?? null,
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
