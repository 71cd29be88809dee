/**
 * Everything that a throttle knows, as plain JSON: continue-as-new carries it as it is. Everything that grows has a limit: the
 * queue has `queueLimit`, the leases the concurrency of the crawls, the rest the constants here.
 */
import {
  type Ask,
  type DelayRange,
  type DomainStats,
  emptyStats,
  type Lease,
  type OriginOutage,
  type PersistedBounds,
  type ThrottleConfig,
} from '../core/slot-protocol.ts';

/** Finished leases kept, so that a late report can be checked against its lease. */
export const MAX_FINISHED_LEASES = 256;
/** Crawls whose turn is kept while none of their pages is queued. */
export const MAX_SERVED_CRAWLS = 64;
/** Origins whose Crawl-delay is kept. Only the longest one counts. */
export const MAX_ORIGINS = 16;
/** Origins with an outage that are kept. An outage that is dropped costs one more failed request. */
export const MAX_OUTAGES = 64;
export const MAX_RECENT_RESPONSES = 20;

export interface QueuedTicket extends Ask {
  askedAt: number;
}

export interface Queue {
  /** In order of arrival. */
  waiting: QueuedTicket[];
  /** Crawls by their last grant, the latest at the end. */
  served: string[];
  /** Grants that passed over the oldest ticket since the last grant to an oldest ticket. */
  passedOldest: number;
}

/** A lease that is held. */
export interface OpenLease {
  lease: Lease;
  /** Grants of this throttle are numbered. */
  number: number;
  workflowId: string;
  crawlId: string;
  origin: string;
  /** Delay of its crawl after this request. */
  delayAfter: DelayRange;
  /** Concurrent fetches that its crawl allows, this one included. */
  concurrency: number;
  grantedAt: number;
  /** null: not reported yet, so it may be any time up to `startBy`. */
  startedAt: number | null;
  /** The lease was the answer to an ask. It may be held even if its signal could not be delivered. */
  answered: boolean;
}

export interface FinishedLease {
  id: string;
  notBefore: number;
  delayAfter: DelayRange;
}

export interface OpenOutage extends OriginOutage {
  /** Leases up to this number were held at the last failure. Their failures belong to the same event. */
  grewAfter: number;
}

/** The latest time at which a request may have started, and the delay of its crawl after it. */
export interface LastStart {
  at: number;
  delayAfter: DelayRange;
  /** Lease of that request. Absent: the last request is not known with certainty, or the time is a worst case. */
  lease?: Pick<Lease, 'id' | 'notBefore'>;
}

export interface ThrottleState {
  domain: string;
  config: ThrottleConfig;
  /** Epoch of the row as this execution opened it. 0 before that. */
  epoch: number;
  persistedBounds: PersistedBounds;
  /** null: the row of `domains` has not been read yet, or the final row is being written. Nothing may be granted. */
  openedAt: number | null;
  /** After the first read this state is newer than the row, which no other execution writes. */
  hasReadRow: boolean;
  queue: Queue;
  leases: OpenLease[];
  /** The latest at the end. */
  finished: FinishedLease[];
  lastStart: LastStart | null;
  /** Where in its range each delay of the next gap lies, from 0 to 1. Drawn once per gap; null before. */
  draw: number | null;
  /** null: none. */
  operatorDelay: DelayRange | null;
  paused: boolean;
  /** What an operator changed before the row was read. The row must not undo it. */
  changedBeforeOpening: Array<'delay' | 'paused' | 'learned'>;
  /** 0: the site is not overloaded. */
  backoffMs: number;
  /** Leases up to this number were held when the backoff last grew. Their responses belong to the same event. */
  backoffGrewAfter: number;
  /** End of a Retry-After. Nothing starts before it. null: none. */
  blockedUntil: number | null;
  /** In ms, by origin. */
  crawlDelays: Record<string, number>;
  /** By origin. */
  outages: Record<string, OpenOutage>;
  /** Number of the latest lease that made a connection, by origin; the latest at the end. */
  lastReached: Record<string, number>;
  /** Moving average of the time from grant to request start. null before the first. */
  grantToStartMs: number | null;
  stats: DomainStats;
}

export function newThrottle(domain: string, config: ThrottleConfig): ThrottleState {
  return {
    domain,
    config,
    epoch: 0,
    persistedBounds: { maxStartWindowMs: 0, maxGapMs: 0 },
    openedAt: null,
    hasReadRow: false,
    queue: { waiting: [], served: [], passedOldest: 0 },
    leases: [],
    finished: [],
    lastStart: null,
    draw: null,
    operatorDelay: null,
    paused: false,
    changedBeforeOpening: [],
    backoffMs: 0,
    backoffGrewAfter: 0,
    blockedUntil: null,
    crawlDelays: {},
    outages: {},
    lastReached: {},
    grantToStartMs: null,
    stats: emptyStats(),
  };
}
