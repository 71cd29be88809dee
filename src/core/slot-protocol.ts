/**
 * The slot protocol, shared by the throttle of a domain, the pages that ask it for slots and the workers that fetch.
 * A page sends an `Ask` and gets a `SlotAnswer`. A `Lease` permits one request. When the lease ends, its holder sends a `Release`.
 * Everything is plain JSON: it travels in messages and through continue-as-new. Times are milliseconds since the epoch on the
 * throttle's clock, which is the Temporal server's; fields that end in `Ms` are durations.
 */

/** A delay that is fixed (min = max), or drawn from the range for each grant. */
export interface DelayRange {
  minMs: number;
  maxMs: number;
}

/** A page's request for a slot. Its ticket makes asking again idempotent. */
export interface Ask {
  /** First run id of the page and a counter. Each slot has its own ticket, repeated by every ask for that slot. */
  ticket: string;
  /** Workflow that receives the `granted` signal. */
  workflowId: string;
  crawlId: string;
  /** Scheme, host and port of the request. A domain may have several origins, each with outages of its own. */
  origin: string;
  /** 1 goes first. */
  priority: number;
  /** Goes before all other tickets, because the page has just spent a slot on robots.txt. */
  atFront: boolean;
  delay: DelayRange;
  /** Concurrent fetches that this crawl allows on the domain, its own included. */
  concurrency: number;
  /** The gap is at least the site's average latency divided by this. null: latency does not matter. */
  targetConcurrency: number | null;
  /** A request that starts ends within this time. After that the lease expires. */
  maxFetchMs: number;
}

/** Permission to start one request between `notBefore` and `startBy`. */
export interface Lease {
  id: string;
  ticket: string;
  notBefore: number;
  startBy: number;
  /** `startBy` plus the longest fetch. A lease without a report by then counts as started at `startBy`. */
  expiresAt: number;
  /** The gap to the previous request under which this lease was granted. Recorded with the request. */
  minGapMs: number;
  /**
   * Lease of the previous request, if its start is all that delays this one. A process that sent that request itself may measure
   * `minGapMs` from it with its own monotonic clock, which is more precise than its estimate of the throttle's clock, and
   * need not wait for `notBefore`.
   */
  follows?: string;
  /** Other requests may be in flight: its holder signals `started`, so that the next lease need not wait for `startBy`. */
  reportStart?: true;
}

/** A lease to be delivered to the page that waited for it. */
export interface Grant {
  workflowId: string;
  lease: Lease;
}

/** Every answer carries the throttle's `now`, which lets workers estimate its clock. */
export type SlotAnswer =
  | { kind: 'granted'; lease: Lease; now: number }
  | { kind: 'queued'; position: number; expectedAt: number; now: number }
  | { kind: 'full'; retryAt: number; now: number }
  /** The origin of the ask cannot be connected to. The ticket is not queued: defer the page and ask with a new ticket. */
  | { kind: 'down'; retryAt: number; since: number; reason: string; givenUp: boolean; now: number };

/** How the site responded, as far as politeness is concerned. */
export type ResponseClass =
  /** 2xx and 3xx. */
  | 'ok'
  /** 404 and 410. The site is healthy, but the latency of such a response says nothing about that of a page. */
  | 'not-found'
  /** Any other 4xx. It may be about this page or about us, so it counts neither as a success nor as an overload. */
  | 'client-error'
  /** 5xx and 429: too many requests for the site. */
  | 'overloaded'
  /** A connection without a complete response: reset, timeout, protocol error. */
  | 'broken'
  /** No connection: DNS, connect or TLS failed. */
  | 'unreachable'
  /** We aborted the request, or our process stalled. Nothing can be learned from it. */
  | 'unknown';

/** When a request was written, as reported by the worker that wrote it. */
export interface RequestStart {
  /** At least this long before the report was sent. Delivery time makes the start look later than it was, never earlier. */
  agoMs: number;
  /** Latest possible time of the write, by the worker's estimate of the throttle's clock. null: unknown. */
  latestAt: number | null;
}

/** What happened to a lease. `unused` requires certainty that nothing was written; otherwise it is `lost`. */
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

/** What is reported at the end of a lease. */
export interface LeaseReport {
  use: LeaseUse;
  /** Present if the request read a robots.txt. `delayMs` null: it has no Crawl-delay. */
  crawlDelay?: { origin: string; delayMs: number | null };
}

export interface Release extends LeaseReport {
  leaseId: string;
}

/** Constants of the installation, passed to the first run of a throttle. */
export interface ThrottleConfig {
  /** How long before its `notBefore` a lease may be granted. */
  grantLeadMs: number;
  /** Shortest and longest start window (`startBy - notBefore`) with concurrency 1. */
  startWindowMs: number;
  maxStartWindowMs: number;
  /** Shortest start window with concurrency above 1. It too may grow to `maxStartWindowMs`. */
  parallelStartWindowMs: number;
  /** Longest queue. Further asks are answered with `full`. */
  queueLimit: number;
  /** Upper limit of the backoff. */
  maxBackoffMs: number;
  /** Upper limit of Retry-After. */
  maxRetryAfterMs: number;
  /** Upper limit of a Crawl-delay in robots.txt. */
  maxCrawlDelayMs: number;
  /** Time until the first probe of an origin that cannot be connected to. Doubles with each failure. */
  outageRetryMs: number;
  /** Upper limit of that time. */
  maxOutageRetryMs: number;
  /** Pages of an origin are given up after an outage of this length. */
  outageGiveUpMs: number;
  /** The throttle ends when it has been idle for this long after its gap has passed. */
  idleTimeoutMs: number;
}

/**
 * What a throttle that starts after a crash learns from its row in `domains`: no lease of the previous execution has a longer
 * start window or a longer delay. Leases are granted only within these bounds, so they are persisted before they grow.
 */
export interface PersistedBounds {
  maxStartWindowMs: number;
  maxGapMs: number;
}

/** What the `domains` table keeps from one execution of a throttle to the next. */
export interface StoredDomain extends PersistedBounds {
  /** false: the last execution did not end in order, so `lastStart` may be too early. */
  clean: boolean;
  lastStart: number | null;
  delay: DelayRange | null;
  paused: boolean;
  backoffMs: number;
  /** End of the current Retry-After. null: none. */
  blockedUntil: number | null;
  /** By origin. */
  crawlDelays: Record<string, number>;
  /** By origin. */
  outages: Record<string, OriginOutage>;
  stats: DomainStats;
}

/** A period in which no connection to an origin succeeds. */
export interface OriginOutage {
  /** Time of the first failure. */
  since: number;
  /** No probe before this time. Then one page at a time probes the origin until a connection succeeds. */
  until: number;
  /** Consecutive failures. 0: a single failure after requests that succeeded, to be confirmed by another page. */
  failures: number;
  /** The last error, for people. */
  error: string;
}

/** Result of reading the row and marking it as not clean. */
export interface OpenedDomain {
  /** null: a new domain. */
  stored: StoredDomain | null;
  persistedBounds: PersistedBounds;
  /** Incremented each time the row is opened. Writes with an older epoch are rejected. */
  epoch: number;
}

export interface DomainStats {
  granted: number;
  started: number;
  unused: number;
  /** Tickets that left the queue before their turn. */
  withdrawn: number;
  /** Leases that ended without a report. */
  lost: number;
  /** Leases that are held at the moment. */
  active: number;
  overloaded: number;
  broken: number;
  unreachable: number;
  /** Moving average over the requests with an `ok` response. null before the first. */
  averageDurationMs: number | null;
  /** Of the last requests, the latest at the end. */
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
