/**
 * The proof of politeness: reads the records and judges them again, independently of the throttle. Requests are streamed domain by
 * domain. Only a summary of each domain and the first violations are kept.
 */
import { LoopTurn } from '../core/in-turns.ts';
import { AddressJudge } from './addresses.ts';
import { CrawlDelays, gapBetween, isTooShort, isWithinClockError, tighterOf } from './gaps.ts';
import { type ParsedRules, RulesJudge } from './rules.ts';
import type {
  DomainProof,
  ExcessAttempts,
  Gap,
  Proof,
  RecordedRequest,
  RequestedPoliteness,
  SentRequest,
  StoredRules,
  Violation,
} from './types.ts';

/** What the proof reads, wherever it is stored. */
export interface Records {
  /** Domains to which the crawls in question sent a request. */
  domains(): AsyncIterable<string>;
  /** Every request to the domain, of any crawl, ordered by start. */
  requests(domain: string): AsyncIterable<RecordedRequest>;
  /** dropped: the origin of this URL has had so many versions that the old ones are not kept. null: they are not on record. */
  rules(id: string, url: string): Promise<StoredRules | 'dropped' | null>;
  /** From the crawl's settings. null: the crawl is not on record. */
  politeness(crawlId: string, domain: string): Promise<RequestedPoliteness | null>;
  /** Blocks of addresses to which the crawls in question sent a request. */
  addressBlocks(): AsyncIterable<string>;
  /** Every request to the block, of any crawl, ordered by when it was sent. */
  sentTo(block: string): AsyncIterable<SentRequest>;
  /** Of the crawls in question. */
  excessAttempts(): AsyncIterable<ExcessAttempts>;
}

/** A broken throttle would cause millions. */
const MAX_LISTED_VIOLATIONS = 1_000;

/**
 * `isConcerned`: the request belongs to a crawl in question. A gap is judged if this is true of either end. `maxRulesMs`: how long
 * rules may be evaluated in all; the remaining requests are counted as not judged by them.
 */
export async function prove(
  records: Records,
  isConcerned: (request: Pick<RecordedRequest, 'crawlId'>) => boolean,
  { maxRulesMs = Number.POSITIVE_INFINITY }: { maxRulesMs?: number } = {},
): Promise<Proof> {
  const proof: Proof = {
    requests: 0,
    withinClockError: 0,
    rulesDropped: 0,
    rulesTooSlow: 0,
    domains: [],
    addresses: 0,
    exemptRequests: 0,
    violations: [],
    violationCount: 0,
  };
  const report = (violation: Violation): void => {
    proof.violationCount += 1;
    if (proof.violations.length < MAX_LISTED_VIOLATIONS) proof.violations.push(violation);
  };
  const judge = new RulesJudge((id, url) => records.rules(id, url), maxRulesMs);
  const turn = new LoopTurn();
  for await (const domain of records.domains()) {
    const proven: DomainProof = { domain, requests: 0, tightest: null };
    const crawlDelays = new CrawlDelays();
    let before: RecordedRequest | null = null;
    for await (const request of records.requests(domain)) {
      if (turn.isOver()) await turn.next();
      crawlDelays.observe(request);
      const gap: Gap | null = before && gapBetween(before, request);
      if (gap !== null && (isConcerned(gap.before) || isConcerned(gap.after))) {
        proven.tightest = tighterOf(proven.tightest, gap);
        if (isTooShort(gap)) report({ kind: 'gap', domain, ...gap });
        if (isWithinClockError(gap)) proof.withinClockError += 1;
        // The throttle recorded the gap in force. robots.txt and the crawl's settings below check the throttle itself.
        const concurrency = await concurrencyDuring(records, gap);
        const requiredMs = crawlDelays.requiredGapMs(gap, await knownRules(judge, request), concurrency);
        if (requiredMs !== null && gap.gapMs < requiredMs)
          report({ kind: 'crawl-delay', domain, ...gap, requiredMs });
      }
      before = request;
      if (!isConcerned(request)) continue;
      proven.requests += 1;
      const requested = await records.politeness(request.crawlId, domain);
      if (requested !== null && request.minGapMs < requested.minGapMs)
        report({ kind: 'granted', domain, request, requiredMs: requested.minGapMs });
      const verdict = await judge.judge(request);
      if (verdict.kind === 'disallowed') report({ kind: 'disallowed', domain, request, why: verdict.why });
      if (verdict.kind === 'dropped') proof.rulesDropped += 1;
      if (verdict.kind === 'too-slow') proof.rulesTooSlow += 1;
    }
    proof.requests += proven.requests;
    proof.domains.push(proven);
  }
  await proveAddresses(records, isConcerned, proof, report);
  for await (const violation of records.excessAttempts()) report(violation);
  return proof;
}

async function proveAddresses(
  records: Records,
  isConcerned: (request: SentRequest) => boolean,
  proof: Proof,
  report: (violation: Violation) => void,
): Promise<void> {
  const turn = new LoopTurn();
  for await (const block of records.addressBlocks()) {
    const judge = new AddressJudge();
    let isLimited = false;
    for await (const request of records.sentTo(block)) {
      if (turn.isOver()) await turn.next();
      for (const violation of judge.judge(request)) {
        const requests = violation.kind === 'address-gap' ? [violation.before, request] : [request];
        if (requests.some(isConcerned)) report(violation);
      }
      if (!isConcerned(request)) continue;
      if (request.limit === null) proof.exemptRequests += 1;
      else isLimited = true;
    }
    if (isLimited) proof.addresses += 1;
  }
}

/** How many requests may have been in flight at the same time. Like the throttle, this uses the lower of both crawls' limits. */
async function concurrencyDuring(records: Records, { before, after }: Gap): Promise<number> {
  const requested = [before, after].map(({ crawlId, domain }) => records.politeness(crawlId, domain));
  const limits = (await Promise.all(requested)).map(
    (crawl) => crawl?.concurrency ?? Number.POSITIVE_INFINITY,
  );
  return Math.min(...limits);
}

async function knownRules(judge: RulesJudge, request: RecordedRequest): Promise<ParsedRules | null> {
  const rules = await judge.rulesOf(request);
  return typeof rules === 'string' ? null : rules;
}
