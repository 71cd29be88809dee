/** What one attempt brought: small enough for a workflow history, complete enough for the database. */
import type { Outcome } from './outcome.ts';

/** One request as it was sent: `verify` proves politeness from these. */
export interface RequestRecord {
  leaseId: string;
  domain: string;
  url: string;
  /** When its first byte was written, on Postgres's clock; the true moment is at most startedErrorMs later. */
  startedAt: number;
  startedErrorMs: number;
  minGapMs: number;
  /** null: a robots.txt, which may always be requested. */
  allowedBy: AllowedBy | null;
  statusCode: number | null;
  durationMs: number;
  sentTo: SentTo;
}

/** The address that a request was sent to, and the limits that are kept for it. */
export interface SentTo {
  address: string;
  /** What the limits are kept for: the address, or its IPv6 network. */
  block: string;
  /** When the connection was begun, or the request written if one was open. On Postgres's clock, like `startedAt`. */
  at: number;
  /** The gap to the next request, and the number of open ones. null: the address is exempt. */
  limit: { gapMs: number; maxOpen: number } | null;
}

/** Why a path was allowed: the stored rules that decided, and the product token they were read for. */
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
  /** From the header; the document's own language takes precedence. */
  contentLanguage: string | null;
  /** From X-Robots-Tag; those of <meta> are known after parsing. */
  directives: RobotsDirectives;
}

export type Found =
  | ({ kind: 'document' } & StoredBody)
  /** Stored without being parsed. */
  | ({ kind: 'file' } & StoredBody)
  | { kind: 'redirect'; to: string }
  | { kind: 'nothing' };

export interface AttemptReport {
  outcome: Outcome;
  statusCode: number | null;
  /** dns, refused, timeout, ...: the kind of `error`, for counting; null: none. */
  errorKind: string | null;
  /** A sentence for people; also the reason for a rejection or a block. */
  error: string | null;
  /** null: nothing was sent. */
  request: RequestRecord | null;
  finishedAt: number;
  latencyMs: number | null;
  bytes: number | null;
  found: Found;
}

/** From the first request for a slot to the start of the HTTP request. */
export function slotWaitMs({ request, finishedAt }: AttemptReport, askedAt: number | null): number {
  const startedAt = request?.startedAt ?? finishedAt;
  return Math.max(0, startedAt - (askedAt ?? startedAt));
}

/** The report of an attempt that ended without sending a request. */
export function reportWithoutRequest(
  outcome: Outcome,
  errorKind: string,
  error: string,
  finishedAt: number,
): AttemptReport {
  return {
    outcome,
    statusCode: null,
    errorKind,
    error,
    request: null,
    finishedAt,
    latencyMs: null,
    bytes: null,
    found: { kind: 'nothing' },
  };
}
