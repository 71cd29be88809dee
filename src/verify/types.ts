/** The types of the proof: what was recorded, what is judged, and what a violation looks like. */

import type { AllowedBy } from '../core/attempt.ts';

/** One request as it was sent. */
export interface RecordedRequest {
  leaseId: string;
  domain: string;
  crawlId: string;
  url: string;
  /** robots.txt is exempt from the rules it states. */
  isRobots: boolean;
  /** On Postgres's clock. The true start is at most `startedErrorMs` later. */
  startedAtMs: number;
  startedErrorMs: number;
  /** The gap to the previous request that was in force when this one was granted. */
  minGapMs: number;
  /** null: no rules were recorded with it. */
  allowedBy: AllowedBy | null;
}

/** One request as the limits per address see it. */
export interface SentRequest {
  leaseId: string;
  crawlId: string;
  url: string;
  address: string;
  /** When its connection was begun, or the request written if one was open. The true time is at most `clockErrorMs` later. */
  sentAtMs: number;
  clockErrorMs: number;
  endedAtMs: number;
  /** What applied to its address: the gap to the next request, and the number of open ones. null: it was exempt. */
  limit: { gapMs: number; maxOpen: number } | null;
}

/** The rules of a robots.txt, as they were stored. */
export interface StoredRules {
  origin: string;
  /** null: there was no robots.txt. */
  body: string | null;
  /** When these rules were first stored, on the database's clock. */
  storedAtMs: number;
  /** A longer Crawl-delay was reduced to this. */
  maxCrawlDelayMs: number;
}

/** What a crawl's settings ask for on one domain. */
export interface RequestedPoliteness {
  minGapMs: number;
  /** Requests in flight at a time, its own included. */
  concurrency: number;
}

export interface Gap {
  before: RecordedRequest;
  after: RecordedRequest;
  /** By the recorded starts. */
  gapMs: number;
  /** The true gap may have been shorter by this much, because the earlier request may have started later than recorded. */
  clockErrorMs: number;
  /** What was in force then. */
  requiredMs: number;
}

export interface DomainProof {
  domain: string;
  requests: number;
  /** The gap with the least time to spare. null: fewer than two requests. */
  tightest: Gap | null;
}

export type Violation =
  | ({ kind: 'gap'; domain: string } & Gap)
  /** The gap was shorter than `requiredMs`, the Crawl-delay of the robots.txt that allowed both requests. */
  | ({ kind: 'crawl-delay'; domain: string } & Gap)
  /** It was granted with a shorter gap than its own crawl asks for on this domain. */
  | { kind: 'granted'; domain: string; request: RecordedRequest; requiredMs: number }
  | { kind: 'disallowed'; domain: string; request: RecordedRequest; why: string }
  | AddressViolation
  | ExcessAttempts;

export type AddressViolation =
  | { kind: 'address-gap'; before: SentRequest; after: SentRequest; requiredMs: number }
  /** `open`: requests to the address when this one was sent, this one included. */
  | { kind: 'address-open'; request: SentRequest; open: number };

/** A page with more attempts than its crawl's retry policy allows. */
export interface ExcessAttempts {
  kind: 'attempts';
  crawlId: string;
  url: string;
  attempts: number;
  allowed: number;
}

export interface Proof {
  requests: number;
  /** Gaps that are long enough by the recorded starts, but not if the clocks' whole possible error is subtracted. */
  withinClockError: number;
  /** Requests that were not judged by their robots.txt: the site has changed it so often that this version is no longer kept. */
  rulesDropped: number;
  /** ... or its rules took too long to evaluate. */
  rulesTooSlow: number;
  domains: DomainProof[];
  /** Addresses with limits that were checked. IPv6 addresses count by their /64 network. */
  addresses: number;
  /** Requests to exempt addresses. */
  exemptRequests: number;
  /** The first of them. `violationCount` counts all. */
  violations: Violation[];
  violationCount: number;
}
