/** What a run is judged by: what the web saw, what is on record, and which faults were injected. */
import type { Outcome, PageStatus } from '../../src/core/outcome.ts';

/** One request as the web saw it. Times are of this machine's wall clock. */
export interface Arrival {
  url: string;
  host: string;
  /** The worker that sent it. */
  worker: string;
  atMs: number;
  /** It may have come this much earlier: the web was late to notice. */
  lateMs: number;
  /** Of the response, once it was sent completely; null: it never was. */
  status: number | null;
  /** false: robots.txt. */
  page: boolean;
}

export interface ExpectedPage {
  url: string;
  status: PageStatus;
}

export interface PageOnRecord {
  url: string;
  status: PageStatus;
  attempts: number;
}

export interface AttemptOnRecord {
  url: string;
  attempt: number;
  outcome: Outcome;
  errorKind: string | null;
  startedAtMs: number | null;
  finishedAtMs: number;
  recordedAtMs: number;
}

export interface RequestOnRecord {
  domain: string;
  url: string;
  startedAtMs: number;
  minGapMs: number;
}

/** A fault that was injected. */
export interface Injected {
  fault: string;
  fromMs: number;
  untilMs: number;
  /** Pages whose fetch was in flight and may be lost: requested, and not on record. */
  exposed: readonly string[];
  /** To the program it looks like a failure of the site, which may cost a page an attempt. */
  isSiteFailure: boolean;
  /** The dependency that no worker can use meanwhile, as the log names it. */
  unavailable?: Dependency;
}

export type Dependency = 'Temporal' | 'Postgres' | 'Content store';

/** What a worker has written to its log. */
export interface LogLine {
  worker: string;
  /** Of the process: one name may have several after each other. */
  pid: number;
  atMs: number;
  /** pino's: 40 is a warning, 50 an error. */
  level: number;
  msg: string;
}

export interface Policy {
  gapMs: number;
  maximumAttempts: number;
  retryAfterMs: number;
}

export interface Evidence {
  policy: Policy;
  expected: readonly ExpectedPage[];
  /** As the crawl itself reports it. */
  crawl: { status: string; found: number; pages: Readonly<Record<string, number>> };
  pages: readonly PageOnRecord[];
  attempts: readonly AttemptOnRecord[];
  requests: readonly RequestOnRecord[];
  arrivals: readonly Arrival[];
  injected: readonly Injected[];
}
