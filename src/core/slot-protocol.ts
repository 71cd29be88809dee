/**
 * The words of the slot protocol, shared by the throttle, the pages that ask it and the workers that fetch.
 * All times are milliseconds since the epoch on the throttle's clock (the Temporal server's), all `...Ms` are spans.
 * Everything here is plain JSON: it travels in messages and through continue-as-new.
 */

/** A gap that is fixed (min = max) or drawn anew for each grant. */
export interface DelayRange {
  minMs: number;
  maxMs: number;
}

/** A page's request for a slot. The ticket makes asking twice harmless. */
export interface Ask {
  /** First run id of the page + a counter: one per slot wanted, the same for every ask for that slot. */
  ticket: string;
  /** Workflow id that hears `granted`. */
  workflowId: string;
  crawlId: string;
  /** Scheme, host and port that the request goes to: a domain may have several, and each is down by itself. */
  origin: string;
  /** 1 goes first. */
  priority: number;
  /** Goes before everybody else: the page has just spent a slot on robots.txt. */
  atFront: boolean;
  delay: DelayRange;
  /** Open fetches this crawl tolerates on the domain, its own included. */
  concurrency: number;
  /** Lengthens the gap to the site's average latency / targetConcurrency; null: the delay alone counts. */
  targetConcurrency: number | null;
  /** Longest time from request start to its end; afterwards a lease is over whatever its holder says. */
  maxFetchMs: number;
}

/** Leave to start one request between `notBefore` and `startBy`. */
export interface Lease {
  id: string;
  ticket: string;
  notBefore: number;
  startBy: number;
  /** startBy + longest fetch. Not reported by then: counted as started at startBy. */
  expiresAt: number;
  /** The gap to the previous request that this lease was granted under; recorded with the request. */
  minGapMs: number;
  /**
   * The lease of the previous request, where nothing but its start is in the way of this one. A process that sent that request
   * itself may measure `minGapMs` from it by its own clock, which is finer than to know the throttle's, and need not wait for
   * `notBefore`.
   */
  follows?: string;
}

/** A lease on its way to the page that waited for it. */
export interface Grant {
  workflowId: string;
  lease: Lease;
}

/** Every answer carries the throttle's `now`, from which workers learn its clock. */
export type SlotAnswer =
  | { kind: 'granted'; lease: Lease; now: number }
  | { kind: 'queued'; position: number; expectedAt: number; now: number }
  | { kind: 'full'; retryAt: number; now: number }
  /** No connection to the ask's origin comes about. The ticket has no place in line: stand aside, come with a new one. */
  | { kind: 'down'; retryAt: number; since: number; reason: string; givenUp: boolean; now: number };

/** How the site answered, as far as politeness cares. */
export type ResponseClass =
  /** Served: 2xx and 3xx. */
  | 'ok'
  /**
   * There is no such page (404, 410): the site is well, yet how fast it says no tells
   * nothing about how fast it serves.
   */
  | 'not-found'
  /** Any other 4xx: perhaps it wants us no more, perhaps only not there. Neither a success nor an overload. */
  | 'client-error'
  /** 5xx or 429: asked too much. */
  | 'overloaded'
  /** A connection, but no whole answer: reset, timeout, nonsense. */
  | 'broken'
  /** No connection: DNS, connect, TLS. */
  | 'unreachable'
  /** Our own side called it off, or stood still itself: nothing is to be learned from it. */
  | 'unknown';

/** When a request was written, as the one who wrote it says. */
export interface RequestStart {
  /** At least so long before the report went out. What the report takes on its way makes it look later than it was. */
  agoMs: number;
  /** By the throttle's clock, as far as its worker knows it, at the latest; null: it does not know. */
  latestAt: number | null;
}

/** What became of a lease. `unused` is said only by one who knows that nothing was written. */
export type LeaseUse =
  | (RequestStart & {
      kind: 'started';
      durationMs: number;
      responseClass: ResponseClass;
      retryAfterMs?: number;
      /** What went wrong, as a sentence for people. */
      error?: string;
    })
  | { kind: 'unused' }
  | { kind: 'lost' };

export interface Release extends LeaseReport {
  leaseId: string;
}

/** What there is to say of a lease when it ends. */
export interface LeaseReport {
  use: LeaseUse;
  /** Set by the request that read a robots.txt; null: it names no Crawl-delay. */
  crawlDelay?: { origin: string; delayMs: number | null };
}

/** Installation-wide constants of the throttle, handed to its first run. */
export interface ThrottleConfig {
  /** How far ahead of `notBefore` a grant may be sent. */
  grantLeadMs: number;
  /** Shortest and longest start window (startBy - notBefore) with concurrency 1. */
  startWindowMs: number;
  maxStartWindowMs: number;
  /** Shortest start window with concurrency above 1; it grows up to `maxStartWindowMs` as well. */
  parallelStartWindowMs: number;
  /** Tickets in line; beyond it the answer is `full`. */
  queueLimit: number;
  /** Cap of the backoff that doubling reaches. */
  maxBackoffMs: number;
  /** Cap of Retry-After. */
  maxRetryAfterMs: number;
  /** Cap of a robots.txt's Crawl-delay. */
  maxCrawlDelayMs: number;
  /** How long an origin is left alone after a connection to it failed; doubles with each failure ... */
  outageRetryMs: number;
  /** ... up to this. */
  maxOutageRetryMs: number;
  /** Down for this long without one connection, its pages are given up. */
  outageGiveUpMs: number;
  /** Idle this long after its gap has run out, the throttle ends. */
  idleTimeoutMs: number;
}

/** What the `domains` table keeps of a throttle between two lives. */
export interface StoredDomain {
  /** false: the last life did not end in order, so `lastStart` may be too early. */
  clean: boolean;
  lastStart: number | null;
  /** Longest delay owed after that start, or by anyone in line when this was written. */
  maxGapMs: number;
  /** No lease that was out when this was written, or granted since, has a longer start window. */
  maxStartWindowMs: number;
  delay: DelayRange | null;
  paused: boolean;
  backoffMs: number;
  /** End of a running Retry-After; null: none runs. */
  blockedUntil: number | null;
  crawlDelays: Record<string, number>;
  /** By origin. */
  outages: Record<string, OriginOutage>;
  stats: DomainStats;
}

/** An origin to which no connection came about. */
export interface OriginOutage {
  /** The first failure. */
  since: number;
  /** Nobody knocks before this; then one page at a time does, until a connection comes about. */
  until: number;
  /** In a row; 0: one failure where requests got through before, which another page is to confirm first. */
  failures: number;
  /** What went wrong the last time, for people. */
  error: string;
}

/**
 * What the row says to a next life that knows nothing else: leases are granted only within it, so that the row is never
 * behind what is out there.
 */
export interface PersistedBounds {
  maxStartWindowMs: number;
  /** Longest delay that a request may owe. */
  maxGapMs: number;
}

/** What reading the row, and marking it as not clean, brought back. */
export interface OpenedDomain {
  /** null: a domain never seen. */
  stored: StoredDomain | null;
  /** What the row assures from now on. */
  persistedBounds: PersistedBounds;
  /** Counts the openings of the row: a life that was followed by another can no longer write. */
  epoch: number;
}

export interface DomainStats {
  granted: number;
  started: number;
  unused: number;
  /** Tickets that left the line before their turn. */
  withdrawn: number;
  /** Leases that ended without a report. */
  lost: number;
  /** Leases that are out. */
  active: number;
  overloaded: number;
  broken: number;
  unreachable: number;
  /** Moving average of the time that requests took which were served; null before the first. */
  averageDurationMs: number | null;
  /** How the last requests were received, the latest at the end. */
  recentResponses: ResponseClass[];
}

export function emptyStats(): DomainStats {
  return {
    granted: 0,
    started: 0,
    unused: 0,
    withdrawn: 0,
    lost: 0,
    active: 0,
    overloaded: 0,
    broken: 0,
    unreachable: 0,
    averageDurationMs: null,
    recentResponses: [],
  };
}
