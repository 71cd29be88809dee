/** What `amble verify` says of one domain in a period. */
import { createKeyedLimiter } from '../core/keyed-limiter.ts';
import type { Database } from '../storage/database.ts';
import { type Period, readDomainRecords, startOfLast } from '../storage/reports/requests.ts';
import { type Proof, prove } from '../verify/index.ts';

export interface PeriodProof {
  domain: string;
  period: Period;
  /** The period has more requests than are checked at once: the proof begins here. null: it covers the period. */
  coversFrom: Date | null;
  proof: Proof;
}

/** What it says, without the addresses of pages: fit for the owner of the site, and for anybody who asks. */
export interface ProofSummary {
  domain: string;
  period: Period;
  coversFrom: Date | null;
  requests: number;
  violationCount: number;
  withinClockError: number;
  /** Requests that were not judged by their robots.txt. */
  notJudged: number;
  /** The gap with the least time to spare. null: fewer than two requests. */
  tightest: { gapMs: number; requiredMs: number } | null;
}

export function summariseProof({ domain, period, coversFrom, proof }: PeriodProof): ProofSummary {
  const { requests, violationCount, withinClockError, rulesDropped, rulesTooSlow } = proof;
  const tightest = proof.domains[0]?.tightest ?? null;
  return {
    ...{ domain, period, coversFrom, requests, violationCount, withinClockError },
    notJudged: rulesDropped + rulesTooSlow,
    tightest: tightest && { gapMs: tightest.gapMs, requiredMs: tightest.requiredMs },
  };
}

/** Judged in about a tenth of a second. */
const MAX_REQUESTS = 5_000;
/** What rules made to be slow may add to that. Anybody may ask for a proof, and a worker may run in this process. */
const MAX_RULES_MS = 500;
const MINUTE_MS = 60_000;

const oneAtATime = createKeyedLimiter(1);
/** Those that run or wait. */
const underWay = new WeakMap<Database, Map<string, Promise<PeriodProof>>>();

/** One at a time. Whoever asks for one that is being made, to the minute, gets that one. */
export function proveDomain(db: Database, domain: string, period: Period): Promise<PeriodProof> {
  const [from, until] = [period.from, period.until].map((at) => Math.floor(at.getTime() / MINUTE_MS));
  const key = `${domain} ${from} ${until}`;
  const proofs = underWay.get(db) ?? new Map<string, Promise<PeriodProof>>();
  underWay.set(db, proofs);
  const existing = proofs.get(key);
  if (existing !== undefined) return existing;
  const proof = oneAtATime('proof', () => make(db, domain, period)).finally(() => proofs.delete(key));
  proofs.set(key, proof);
  return proof;
}

async function make(db: Database, domain: string, period: Period): Promise<PeriodProof> {
  const coversFrom = await startOfLast(db, domain, period, MAX_REQUESTS);
  const covered = { ...period, from: coversFrom ?? period.from };
  return {
    domain,
    period,
    coversFrom,
    proof: await prove(readDomainRecords(db, domain, covered), () => true, { maxRulesMs: MAX_RULES_MS }),
  };
}
