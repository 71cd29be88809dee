/**
 * All that a throttle knows, as plain JSON: it is carried through continue-as-new as it is. Everything that grows has a
 * bound: the queue by `queueLimit`, the leases by the crawls' concurrency, the rest by the constants here.
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

/** Leases remembered after their end, so that a late report is judged by the lease it speaks of. */
export const MAX_FINISHED_LEASES = 256;
/** Crawls whose turn is remembered while they have nobody in the queue. */
export const MAX_SERVED_CRAWLS = 64;
/** Origins whose Crawl-delay is remembered; only the longest one counts. */
export const MAX_ORIGINS = 16;
/** Origins known to be down. One that is forgotten is found out once more, at the cost of an attempt. */
export const MAX_OUTAGES = 64;
/** Requests whose responseClass is remembered. */
export const MAX_RECENT_RESPONSES = 20;

export interface QueuedTicket extends Ask {
  askedAt: number;
}

export interface Queue {
  /** In order of arrival. */
  waiting: QueuedTicket[];
  /** Crawls by their last grant, the latest at the end. */
  served: string[];
  /** Grants that passed the oldest ticket by, since one last went to it. */
  passedOldest: number;
}

export interface OpenLease {
  lease: Lease;
  /** Counts the grants of this throttle. */
  number: number;
  workflowId: string;
  crawlId: string;
  origin: string;
  /** Delay that its crawl wants after it. */
  delayAfter: DelayRange;
  /** Open fetches that its crawl tolerates, this one included. */
  concurrency: number;
  grantedAt: number;
  /** null: not reported yet, it may be any time up to `startBy`. */
  startedAt: number | null;
  /** It went out as the answer to an ask: somebody may hold it although the signal found nobody. */
  answered: boolean;
}

export interface FinishedLease {
  id: string;
  notBefore: number;
  delayAfter: DelayRange;
}

export interface OpenOutage extends OriginOutage {
  /** Leases up to this number were out when it last failed: their reports are part of the same event. */
  grewAfter: number;
}

/** The latest moment at which a request may have started, and the delay its crawl wants after it. */
export interface LastStart {
  at: number;
  delayAfter: DelayRange;
  /** Of the request that started then, where it is known to have been the last; unset: it is not, or somebody assumes the worst. */
  lease?: Pick<Lease, 'id' | 'notBefore'>;
}

export interface ThrottleState {
  domain: string;
  config: ThrottleConfig;
  /** Of the row's opening by this life; 0 before it. */
  epoch: number;
  /** What the row says about the leases of this life. */
  persistedBounds: PersistedBounds;
  /** null: the row of `domains` has not been read yet, or the end is being written to it: nothing may be granted. */
  openedAt: number | null;
  /** The row was read once: from then on this state knows better than the row, which it alone writes. */
  hasReadRow: boolean;
  queue: Queue;
  leases: OpenLease[];
  /** The latest at the end. */
  finished: FinishedLease[];
  lastStart: LastStart | null;
  /** Where in its range every delay of the next gap lies, 0 to 1; null: not needed yet. Drawn once a gap. */
  draw: number | null;
  /** The operator's own delay for the domain; null: none. */
  operatorDelay: DelayRange | null;
  paused: boolean;
  /** What the operator said before the row was read, and the row must not undo. */
  changedBeforeOpening: Array<'delay' | 'paused' | 'learned'>;
  /** 0: the site is well. */
  backoffMs: number;
  /** Leases up to this number were out when the backoff last grew: their reports are part of the same event. */
  backoffGrewAfter: number;
  /** Retry-After: nothing starts before this; null: not asked for. */
  blockedUntil: number | null;
  /** In ms by origin. */
  crawlDelays: Record<string, number>;
  /** By origin. */
  outages: Record<string, OpenOutage>;
  /** Number of the latest lease with which a connection came about, by origin; the latest at the end. */
  lastReached: Record<string, number>;
  /** Moving average from grant to request start; null before the first. */
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
