/**
 * The slot protocol, shared by the throttle of a domain, the pages that ask it for slots and the workers that fetch.
 * A page sends an `Ask` and gets a `SlotAnswer`. A `Lease` reserves a time for one request. The gate (src/core/gate.ts) decides
 * whether that request may start. When the lease ends, its worker sends a `Release` with the next ask.
 * Everything is plain JSON: it travels in messages and through continue-as-new. Times are milliseconds since the epoch on the
 * throttle's clock, which is the Temporal server's; fields that end in `Ms` are durations.
 */

/** A delay that is fixed (min = max), or drawn from the range for each grant. */
export interface DelayRange {
  minMs: number;
  maxMs: number;
}

/** A page sleeps until this much before its slot. Its fetch waits for the rest: a timer may fire late on a busy machine. */
export const LEAD_MS = 1_000;

/**
 * A page whose slot is nearer than this may wait for it within its workflow task, which saves a timer and a task. A task that takes 10 s,
 * on a machine that is too busy to extend it in time, is repeated.
 */
export const MAX_STAY_MS = 5_000;

/** A page's request for a slot. Its ticket makes asking again idempotent. */
export interface Ask {
  /** First run id of the page and a counter. Each slot has its own ticket, repeated by every ask for that slot. */
  ticket: string;
  /** Workflow that receives the `askAgain` signal. */
  workflowId: string;
  crawlId: string;
  /** Scheme, host and port of the request. A domain may have several origins, each with outages of its own. */
  origin: string;
  /** Gets the next slot, whatever is reserved: the page has just spent a slot on robots.txt. */
  atFront: boolean;
  delay: DelayRange;
  /** Concurrent fetches that this crawl allows on the domain, its own included. */
  concurrency: number;
  /** The gap is at least the site's average latency divided by this. null: latency does not matter. */
  targetConcurrency: number | null;
  /** A request that starts ends within this time. */
  maxFetchMs: number;
}

/** What an ask says of its crawl. */
export interface AskSettings {
  delay: DelayRange;
  concurrency: number;
  targetConcurrency: number | null;
  fetch: { totalTimeoutMs: number };
}

export function askOf(
  { delay, concurrency, targetConcurrency, fetch }: AskSettings,
  asked: Pick<Ask, 'ticket' | 'workflowId' | 'crawlId' | 'origin' | 'atFront'>,
): Ask {
  return { ...asked, delay, concurrency, targetConcurrency, maxFetchMs: fetch.totalTimeoutMs };
}

/** A reserved slot: one request may pass the gate, planned for `notBefore`. */
export interface Lease {
  id: string;
  ticket: string;
  /** Of the domain's rules. The gate refuses leases that are older than a Retry-After or an outage. */
  version: number;
  notBefore: number;
  /** So much before `notBefore` the request may pass the gate, if that opens earlier than planned. */
  earlyMs: number;
  /** After this time the page asks for another slot. */
  startBy: number;
  /** The gap to the previous request under which this lease was granted. The gate may require a longer one. */
  minGapMs: number;
  /** The site answers quickly: the page fetches within its workflow task, which saves a task and six events. */
  quick: boolean;
}

export type SlotAnswer =
  | { kind: 'granted'; lease: Lease }
  /** No slot can be reserved yet: ask again at `retryAt`, or when the throttle signals `askAgain`. */
  | { kind: 'later'; retryAt: number; reason: string }
  /** The origin of the ask cannot be connected to: defer the page and ask with a new ticket. */
  | { kind: 'down'; retryAt: number; since: number; reason: string; givenUp: boolean };

/** `stays`: the worker that asked has room for the page to wait for its slot within the workflow task. */
export type Staying<A> = A & { stays?: true };

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

/** What happened to a lease. `unused` requires certainty that nothing was written; otherwise it is `lost`. */
export type LeaseUse =
  | {
      kind: 'started';
      /** The request was written at least this long before the report was sent. */
      agoMs: number;
      durationMs: number;
      responseClass: ResponseClass;
      retryAfterMs?: number;
      /** What went wrong, as a sentence for people. */
      error?: string;
    }
  /** `busy`: the gate refused it, because as many requests were open as may be. */
  | { kind: 'unused'; busy?: true }
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
  /** How long after its `notBefore` a lease may still be used. */
  startWindowMs: number;
  /** Slots that may be reserved ahead, apart from those whose requests are open. */
  maxReserved: number;
  /** How far ahead slots may be reserved. The next slot may be, however far ahead it is. */
  horizonMs: number;
  /** Most pages that are remembered as waiting to ask again. */
  maxWaiting: number;
  /** How often a page of a paused domain asks, if it is not signalled. */
  pauseRetryMs: number;
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

/** What the `domains` table keeps from one execution of a throttle to the next. */
export interface StoredDomain {
  /** The gate refuses leases of an older version. */
  validFrom: number;
  /** The shortest gap of the domain, whatever crawls ask for. Read by the gate. */
  minGapMs: number;
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
  /** The gate refuses leases of an older version for this origin. */
  validFrom: number;
}

export interface OpenedDomain {
  /** null: a new domain. */
  stored: StoredDomain | null;
  /** Incremented each time the row is opened. Writes with an older epoch are rejected. */
  epoch: number;
}

export interface DomainStats {
  granted: number;
  started: number;
  unused: number;
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
    lost: 0,
    active: 0,
    overloaded: 0,
    broken: 0,
    unreachable: 0,
    averageDurationMs: null,
    recentResponses: [],
  };
}
