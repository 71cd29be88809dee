/** Everything that is on record about one domain, for its page. */
import { setImmediate as nextTurn } from 'node:timers/promises';
import { rulesFor } from '../robots/index.ts';
import type { Database } from '../storage/database.ts';
import { type PastRequest, readRequestHistory } from '../storage/reports/request-history.ts';
import type { Period } from '../storage/reports/requests.ts';
import { type OriginRobots, readRobotsVersions } from '../storage/reports/robots-versions.ts';
import { severityMs, type Violation } from '../verify/index.ts';
import { type ProofSummary, proveDomain, summariseProof } from './domain-proof.ts';
import { diffRobots, type RobotsDiff } from './robots-diff.ts';

export interface DomainDetail {
  domain: string;
  /** The last ones, in order of time. */
  requests: PastRequest[];
  robots: RobotsSummary[];
  proof: ProofSummary;
  /** The worst of them. */
  violations: Violation[];
}

export interface RobotsSummary extends Omit<OriginRobots, 'versions'>, RulesInForce {
  /** When each version was stored, the latest first. */
  versions: Date[];
  /** From the version before to the one in force. null: there is no earlier one, or they are too long or too different. */
  change: RobotsDiff | null;
}

export interface RulesInForce {
  /** The rules in force, cut. null: there is no robots.txt, or none was read. */
  text: string | null;
  /** `Allow` and `Disallow` lines as we understand them for our token, the first of them. */
  rules: string[];
  /** For our token. null: none. */
  crawlDelayMs: number | null;
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
    robots: await forEachOrigin(robots, options.token, summariseRobots),
    proof: summariseProof(proof),
    violations: proof.proof.violations.toSorted(worstFirst).slice(0, MAX_VIOLATIONS),
  };
}

function worstFirst(one: Violation, other: Violation): number {
  const [first, second] = [severityMs(one), severityMs(other)];
  return first === second ? 0 : second - first;
}

function summariseRobots(robots: OriginRobots, rules: RulesInForce): RobotsSummary {
  const { versions, ...rest } = robots;
  const [current, previous] = versions;
  return {
    ...rest,
    ...rules,
    versions: versions.map(({ since }) => since),
    change: current && previous ? diffRobots(previous.body ?? '', current.body ?? '') : null,
  };
}

/**
 * One after the other: a worker may run in this process, and a site can have several robots.txt that take long to read.
 */
export async function forEachOrigin<T>(
  robots: readonly OriginRobots[],
  token: string,
  summarise: (one: OriginRobots, rules: RulesInForce) => T,
): Promise<T[]> {
  const summaries: T[] = [];
  for (const one of robots) {
    summaries.push(summarise(one, rulesInForce(one, token)));
    await nextTurn();
  }
  return summaries;
}

function rulesInForce({ versions }: OriginRobots, token: string): RulesInForce {
  const text = versions[0]?.body ?? null;
  if (text === null) return { text, rules: [], crawlDelayMs: null };
  const { rules, crawlDelayMs } = rulesFor(text, token);
  return { text: text.slice(0, MAX_TEXT), rules: rules.slice(0, MAX_RULES), crawlDelayMs };
}
