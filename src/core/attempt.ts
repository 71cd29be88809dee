/** What a fetch found out: small enough for a workflow history, complete enough for the record. */

import type { Outcome } from './outcome.ts';

/** One request as it went out: what the proof of politeness reads. */
export interface RequestRecord {
  leaseId: string;
  domain: string;
  url: string;
  /** When its first byte was written, on the throttle's clock; the true moment is at most startedErrorMs later. */
  startedAt: number;
  startedErrorMs: number;
  minGapMs: number;
  /**
   * The lease of the request before, where the process that sent both measured the gap by its own steady clock. Unset: the gap rests
   * on the throttle's clock.
   */
  measuredFrom?: string;
  /** Null: a robots.txt, which may always be asked for. */
  allowedBy: AllowedBy | null;
  statusCode: number | null;
  tookMs: number;
}

/** Why a path might be asked for: the stored rules it was judged by, and the product token they were read for. */
export interface AllowedBy {
  rulesId: string;
  agent: string;
}

/** What a page asks of robots, in <meta name="robots"> or in X-Robots-Tag. */
export interface RobotsDirectives {
  noindex: boolean;
  nofollow: boolean;
}

/** A body in the content store. */
export interface StoredBody {
  contentHash: string;
  contentType: string;
  bytes: number;
  etag: string | null;
  lastModified: string | null;
  /** As the header has it; what the document says of itself counts first. */
  contentLanguage: string | null;
  /** As X-Robots-Tag has them; what <meta> says is known after parsing. */
  directives: RobotsDirectives;
}

export type Found =
  | ({ kind: 'document' } & StoredBody)
  /** Kept without being parsed. */
  | ({ kind: 'file' } & StoredBody)
  | { kind: 'redirect'; to: string }
  | { kind: 'nothing' };

export interface AttemptReport {
  outcome: Outcome;
  statusCode: number | null;
  /** dns, refused, timeout, ...: what `error` is about, for counting. Null when nothing went wrong. */
  errorKind: string | null;
  /** In words for a person; also says why something was rejected or blocked. */
  error: string | null;
  /** Null: nothing was written to the wire. */
  request: RequestRecord | null;
  finishedAt: number;
  latencyMs: number | null;
  bytes: number | null;
  found: Found;
}

/** What parsing left in the content store: small enough for a history. */
export interface ParsedRef {
  hash: string;
  title: string | null;
}
