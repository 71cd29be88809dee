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
  statusCode: number | null;
  tookMs: number;
}

export type Found =
  | {
      kind: 'document';
      contentHash: string;
      contentType: string;
      bytes: number;
      etag: string | null;
      lastModified: string | null;
    }
  | { kind: 'redirect'; to: string }
  | { kind: 'nothing' };

export interface AttemptReport {
  outcome: Outcome;
  statusCode: number | null;
  /** dns, connect, timeout, ...: what `error` is about, for counting. Null when nothing went wrong. */
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

/** What parsing left in the content store, and the little of it that the page's row shows. */
export interface ParsedRef {
  hash: string;
  title: string | null;
  language: string | null;
  linksFound: number;
}
