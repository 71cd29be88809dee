/** What `amble verify` says of one domain in a period. */
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
  /** The gap with the least time to spare. null: fewer than two requests. */
  tightest: { gapMs: number; requiredMs: number } | null;
}

export function summariseProof({ domain, period, coversFrom, proof }: PeriodProof): ProofSummary {
  const { requests, violationCount, withinClockError } = proof;
  const tightest = proof.domains[0]?.tightest ?? null;
  return {
    ...{ domain, period, coversFrom, requests, violationCount, withinClockError },
    tightest: tightest && { gapMs: tightest.gapMs, requiredMs: tightest.requiredMs },
  };
}

/** Judged in about a tenth of a second. */
const MAX_REQUESTS = 5_000;

export async function proveDomain(db: Database, domain: string, period: Period): Promise<PeriodProof> {
  const coversFrom = await startOfLast(db, domain, period, MAX_REQUESTS);
  const covered = { ...period, from: coversFrom ?? period.from };
  return {
    domain,
    period,
    coversFrom,
    proof: await prove(readDomainRecords(db, domain, covered), () => true),
  };
}
