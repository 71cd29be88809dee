/**
 * The proof of politeness: reads what was recorded and judges it anew. Requests stream by, domain by domain; what is kept
 * is one line a domain, and the first faults.
 */
import { remember } from '../worker/remember.ts';
import { CrawlDelays } from './crawl-delay.ts';
import { gapBetween, isTooShort, isWithinClockError, tighterOf } from './gaps.ts';
import { type ParsedRules, parseRules, whyDisallowed } from './rules.ts';
import type {
  DomainProof,
  ExcessAttempts,
  Gap,
  Proof,
  RecordedRequest,
  RequestedPoliteness,
  StoredRules,
  Violation,
} from './types.ts';

/** What the proof reads, wherever it is kept. */
export interface Records {
  /** Domains that were asked for anything by the crawls in question. */
  domains(): AsyncIterable<string>;
  /** Every request to the domain, of whatever crawl, in the order of their starts. */
  requests(domain: string): AsyncIterable<RecordedRequest>;
  rules(id: string): Promise<StoredRules | null>;
  /** As the crawl's settings have it; null: the crawl is not on record. */
  politeness(crawlId: string, domain: string): Promise<RequestedPoliteness | null>;
  /** Of those crawls. */
  excessAttempts(): AsyncIterable<ExcessAttempts>;
}

/** Faults listed; a broken throttle would make millions. */
const MOST_LISTED = 1_000;

/** Rules in memory at a time; one may have 500 KiB. */
const RULES_KEPT = 64;

/** `isConcerned`: the request is one of a crawl in question; a gap concerns it if either end does. */
export async function prove(
  records: Records,
  isConcerned: (request: RecordedRequest) => boolean,
): Promise<Proof> {
  const proof: Proof = {
    requests: 0,
    withinClockError: 0,
    domains: [],
    violations: [],
    violationCount: 0,
  };
  const fault = (violation: Violation): void => {
    proof.violationCount += 1;
    if (proof.violations.length < MOST_LISTED) proof.violations.push(violation);
  };
  const rulesOf = rememberRules(records);
  for await (const domain of records.domains()) {
    const proven: DomainProof = { domain, requests: 0, tightest: null };
    const crawlDelays = new CrawlDelays();
    let before: RecordedRequest | null = null;
    for await (const request of records.requests(domain)) {
      crawlDelays.observe(request);
      const gap: Gap | null = before && gapBetween(before, request);
      if (gap !== null && (isConcerned(gap.before) || isConcerned(gap.after))) {
        proven.tightest = tighterOf(proven.tightest, gap);
        if (isTooShort(gap)) fault({ kind: 'gap', domain, ...gap });
        if (isWithinClockError(gap)) proof.withinClockError += 1;
        // As with the crawl's own delay below: the gap in force is the throttle's word, what robots.txt says is not.
        const requiredMs = crawlDelays.requiredGapMs(
          gap,
          await rulesOf(request),
          await companyIn(records, gap),
        );
        if (requiredMs !== null && gap.gapMs < requiredMs)
          fault({ kind: 'crawl-delay', domain, ...gap, requiredMs: requiredMs });
      }
      before = request;
      if (!isConcerned(request)) continue;
      proven.requests += 1;
      const wish = await records.politeness(request.crawlId, domain);
      if (wish !== null && request.minGapMs < wish.minGapMs)
        fault({ kind: 'granted', domain, request, requiredMs: wish.minGapMs });
      const why = whyDisallowed(request, await rulesOf(request));
      if (why !== null) fault({ kind: 'disallowed', domain, request, why });
    }
    proof.requests += proven.requests;
    proof.domains.push(proven);
  }
  for await (const violation of records.excessAttempts()) fault(violation);
  return proof;
}

/** Requests that may have been open at a time when these two were: the more careful one decides, as for the throttle. */
async function companyIn(records: Records, { before, after }: Gap): Promise<number> {
  const wishes = [before, after].map(({ crawlId, domain }) => records.politeness(crawlId, domain));
  const bearable = (await Promise.all(wishes)).map((wish) => wish?.concurrency ?? Number.POSITIVE_INFINITY);
  return Math.min(...bearable);
}

function rememberRules(records: Records): (request: RecordedRequest) => Promise<ParsedRules | null> {
  const look = remember(RULES_KEPT, async (key): Promise<ParsedRules | null> => {
    const [id = '', agent = ''] = key.split(' ');
    const kept = await records.rules(id);
    return kept && parseRules(kept, agent);
  });
  return async ({ allowedBy }) => allowedBy && look(`${allowedBy.rulesId} ${allowedBy.agent}`);
}
