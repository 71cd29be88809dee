/** Everything that is on record about one domain, for its page. */
import { parseRobots, rulesFor } from '../robots/index.ts';
import type { Database } from '../storage/database.ts';
import { type PastRequest, readRequestHistory } from '../storage/reports/request-history.ts';
import type { Period } from '../storage/reports/requests.ts';
import { type OriginRobots, readRobotsVersions } from '../storage/reports/robots-versions.ts';
import type { Violation } from '../verify/index.ts';
import { type ProofSummary, proveDomain, summariseProof } from './domain-proof.ts';
import { diffRobots, type RobotsDiff } from './robots-diff.ts';

export interface DomainDetail {
  domain: string;
  /** The last ones, in order of time. */
  requests: PastRequest[];
  robots: RobotsSummary[];
  proof: ProofSummary;
  /** The first of them. */
  violations: Violation[];
}

export interface RobotsSummary extends Omit<OriginRobots, 'versions'> {
  /** The rules in force, cut. null: there is no robots.txt, or none was read. */
  text: string | null;
  /** `Allow` and `Disallow` lines as we understand them for our token, the first of them. */
  rules: string[];
  /** For our token. null: none. */
  crawlDelayMs: number | null;
  /** When each version was stored, the latest first. */
  versions: Date[];
  /** From the version before to the one in force. null: there is no earlier one, or they are too different. */
  change: RobotsDiff | null;
}

const MAX_TEXT = 10_000;
const MAX_RULES = 200;
const MAX_REQUESTS = 150;
const MAX_VIOLATIONS = 20;

export async function readDomainDetail(
  db: Database,
  domain: string,
  options: { period: Period; token: string },
): Promise<DomainDetail> {
  const [requests, robots, proof] = await Promise.all([
    readRequestHistory(db, domain, MAX_REQUESTS),
    readRobotsVersions(db, domain),
    proveDomain(db, domain, options.period),
  ]);
  return {
    domain,
    requests,
    robots: robots.map((one) => summariseRobots(one, options.token)),
    proof: summariseProof(proof),
    violations: proof.proof.violations.slice(0, MAX_VIOLATIONS),
  };
}

export function summariseRobots({ versions, ...robots }: OriginRobots, token: string): RobotsSummary {
  const [current, previous] = versions;
  const text = current?.body ?? null;
  return {
    ...robots,
    text: text?.slice(0, MAX_TEXT) ?? null,
    rules: text === null ? [] : rulesFor(text, token).slice(0, MAX_RULES),
    crawlDelayMs: text === null ? null : parseRobots(text, { origin: robots.origin, token }).crawlDelayMs,
    versions: versions.map(({ since }) => since),
    change: current && previous ? diffRobots(previous.body ?? '', text ?? '') : null,
  };
}
