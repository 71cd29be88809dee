/**
 * Everything that a throttle knows, as plain JSON: continue-as-new carries it as it is. Everything that grows has a limit: leases
 * have `maxReserved`, waiting pages `maxWaiting`, the rest the constants here.
 */
import {
  type Ask,
  type DelayRange,
  type DomainStats,
  emptyStats,
  type Lease,
  type OriginOutage,
  type ThrottleConfig,
} from '../core/slot-protocol.ts';

/** Origins whose Crawl-delay is kept. Only the longest one counts. */
export const MAX_ORIGINS = 16;
/** Origins with an outage that are kept. An outage that is dropped costs one more failed request. */
export const MAX_OUTAGES = 64;
export const MAX_RECENT_RESPONSES = 20;

/** A lease whose end has not been reported. */
export interface OpenLease {
  lease: Lease;
  /** Grants of this throttle are numbered. */
  number: number;
  ask: Ask;
  grantedAt: number;
}

/** A page that was told to ask again. */
export interface WaitingPage {
  ticket: string;
  workflowId: string;
  crawlId: string;
  askedAt: number;
  retryAt: number;
}

export interface OpenOutage extends OriginOutage {
  /** Leases up to this number were held at the last failure. Their failures belong to the same event. */
  grewAfter: number;
}

export interface ThrottleState {
  domain: string;
  config: ThrottleConfig;
  /** Epoch of the row as this execution opened it. 0 before that. */
  epoch: number;
  /** null: the row of `domains` has not been read yet. Until then nothing is answered. */
  openedAt: number | null;
  /** Of the rules. Incremented by each Retry-After and outage. */
  version: number;
  /** Leases of an older version are void. */
  validFrom: number;
  /** In the order in which they were granted. */
  leases: OpenLease[];
  /** In the order of their first ask. */
  waiting: WaitingPage[];
  /** When the last request started, and the delay of its crawl after it: for planning only. */
  lastStart: { at: number; delayAfter: DelayRange } | null;
  /** When the gate last refused a page because other requests were open. 0: a lease has ended since, or none was refused. */
  busyAt: number;
  /** null: none. */
  operatorDelay: DelayRange | null;
  paused: boolean;
  /** 0: the site is not overloaded. */
  backoffMs: number;
  /** When the backoff last grew. Responses to requests that started before belong to the same event. */
  backoffGrewAt: number;
  /** End of a Retry-After. No slot is planned before it. null: none. */
  blockedUntil: number | null;
  /** In ms, by origin. */
  crawlDelays: Record<string, number>;
  /** By origin. */
  outages: Record<string, OpenOutage>;
  /** Number of the latest lease that made a connection, by origin; the latest at the end. */
  lastReached: Record<string, number>;
  stats: DomainStats;
}

export function newThrottle(domain: string, config: ThrottleConfig): ThrottleState {
  return {
    domain,
    config,
    epoch: 0,
    openedAt: null,
    version: 0,
    validFrom: 0,
    leases: [],
    waiting: [],
    lastStart: null,
    busyAt: 0,
    operatorDelay: null,
    paused: false,
    backoffMs: 0,
    backoffGrewAt: 0,
    blockedUntil: null,
    crawlDelays: {},
    outages: {},
    lastReached: {},
    stats: emptyStats(),
  };
}
