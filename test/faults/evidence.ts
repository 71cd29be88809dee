/** What is left to judge a run by: what the web saw, what the record says, and what was done to the program. */
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
  /** Of the answer, once it was sent whole; null: it never was. */
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

/** Something that was done to the program. */
export interface Injected {
  fault: string;
  fromMs: number;
  untilMs: number;
  /** Pages whose fetch was under way and could be lost by it: asked for, and not on record. */
  exposed: readonly string[];
  /** To the program it looks like a failure of the site, which may cost a page an attempt. */
  ofTheSite: boolean;
  /** What every worker has to do without meanwhile, as its log names it. */
  takesAway?: Need;
}

export type Need = 'Temporal' | 'Postgres' | 'Content store';

/** What a worker has written to its log. */
export interface LogLine {
  worker: string;
  /** Of the process: one name may have several after each other. */
  pid: number;
  atMs: number;
  /** pino's: 40 and above are for somebody to look at. */
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
  /** The crawl's own account of itself. */
  crawl: { status: string; found: number; pages: Readonly<Record<string, number>> };
  pages: readonly PageOnRecord[];
  attempts: readonly AttemptOnRecord[];
  requests: readonly RequestOnRecord[];
  arrivals: readonly Arrival[];
  injected: readonly Injected[];
}
