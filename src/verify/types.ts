/** The words of the proof: what was recorded, what is judged, and what a fault looks like. */

import type { AllowedBy } from '../core/attempt.ts';

/** One request as it went out. */
export interface RecordedRequest {
  leaseId: string;
  domain: string;
  crawlId: string;
  url: string;
  /** robots.txt is exempt from the rules it states; everything else is not. */
  isRobots: boolean;
  /** On the throttle's clock; the true moment is at most `startedErrorMs` later. */
  startedAtMs: number;
  startedErrorMs: number;
  /** The gap to the request before that was in force when this one was granted. */
  minGapMs: number;
  /** Lease of the request from which the process that sent both measured that gap; null: it rests on the throttle's clock. */
  measuredFrom: string | null;
  /** Null: no rules were recorded with it. */
  allowedBy: AllowedBy | null;
}

/** Rules as they were kept. */
export interface StoredRules {
  origin: string;
  /** Null: there was no robots.txt. */
  body: string | null;
  /** When that was first found to be so; by the clock of the database. */
  storedAtMs: number;
  /** What was heeded of a Crawl-delay at most. */
  maxCrawlDelayMs: number;
}

/** How a crawl was opened to behave on one domain. */
export interface RequestedPoliteness {
  minGapMs: number;
  /** Requests it tolerates there at a time, its own included. */
  concurrency: number;
}

export interface Gap {
  before: RecordedRequest;
  after: RecordedRequest;
  /** By the recorded starts. */
  gapMs: number;
  /**
   * In truth it may have been shorter by this: the earlier request may have started so much later than recorded. Where one process
   * measured the gap, no shorter than what was in force.
   */
  clockErrorMs: number;
  /** What was in force then. */
  requiredMs: number;
}

export interface DomainProof {
  domain: string;
  requests: number;
  /** The gap with the least to spare over what was in force; null: fewer than two requests. */
  tightest: Gap | null;
}

export type Violation =
  | ({ kind: 'gap'; domain: string } & Gap)
  /** Closer together than the robots.txt that both were judged by asks for, which is `requiredMs`. */
  | ({ kind: 'crawl-delay'; domain: string } & Gap)
  /** It was let go with less of a gap than its own crawl wants on this domain. */
  | { kind: 'granted'; domain: string; request: RecordedRequest; requiredMs: number }
  | { kind: 'disallowed'; domain: string; request: RecordedRequest; why: string }
  | ExcessAttempts;

/** A page that was tried more often than its crawl's policy allows. */
export interface ExcessAttempts {
  kind: 'attempts';
  crawlId: string;
  url: string;
  attempts: number;
  allowed: number;
}

export interface Proof {
  requests: number;
  /** Gaps that hold by the recorded starts, and would not if the clocks were off by all that could not be ruled out. */
  withinClockError: number;
  domains: DomainProof[];
  /** The first of them; `violationCount` says how many there are. */
  violations: Violation[];
  violationCount: number;
}
