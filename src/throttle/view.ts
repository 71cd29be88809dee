/** What a person sees of a domain: why its next page waits, and for how long. */

import type { DelayRange, DomainStats, OriginOutage, ResponseClass } from '../core/slot-protocol.ts';
import { type GapReason, longestCrawlDelay, minDelayFor } from './gap.ts';
import type { ThrottleState } from './state.ts';

const MAX_SHOWN = 10;

export interface ThrottleView {
  domain: string;
  now: number;
  /** `loading`: its row has not been read yet, so nothing is answered. `down`: all of its known origins are. */
  phase: 'loading' | 'open' | 'paused' | 'blocked' | 'down';
  /** The gap that is expected before the next request, ranges at their middle, and what makes it that long. */
  gapMs: number;
  gapReason: GapReason;
  operatorDelay: DelayRange | null;
  crawlDelayMs: number;
  backoffMs: number;
  /** End of a Retry-After. null: none. */
  blockedUntil: number | null;
  /** Origins whose last connection failed. */
  outages: Array<OriginOutage & { origin: string }>;
  /** Slots that are reserved, those included whose requests are open. */
  reserved: number;
  /** The first of them, by their time. */
  leases: Array<{ id: string; workflowId: string; crawlId: string; notBefore: number; startBy: number }>;
  /** Pages that ask again later. */
  waiting: number;
  /** How many of the last requests failed. */
  recent: { requests: number; failures: number };
  stats: DomainStats;
}

/** Where a page stands. */
export type PageSlot =
  | { kind: 'granted'; notBefore: number; startBy: number }
  /** No slot could be reserved for it yet. It asks again at `retryAt`. `position` 1 is next. */
  | { kind: 'waiting'; position: number; of: number; askedAt: number; retryAt: number }
  /** The page wants no slot now: it is being fetched, parsed or recorded, or it sleeps. */
  | { kind: 'absent' };

export function slotOf({ leases, waiting }: ThrottleState, workflowId: string): PageSlot {
  // The end of an earlier lease may not have been reported yet.
  const open = leases.findLast(({ ask }) => ask.workflowId === workflowId);
  if (open) return { kind: 'granted', notBefore: open.lease.notBefore, startBy: open.lease.startBy };
  const index = waiting.findIndex((page) => page.workflowId === workflowId);
  const page = waiting[index];
  if (!page) return { kind: 'absent' };
  const { askedAt, retryAt } = page;
  return { kind: 'waiting', position: index + 1, of: waiting.length, askedAt, retryAt };
}

/**
 * When the next reserved slot is due. null: none is. For the reader's `now`: that of the view is the time of the throttle's last
 * task, because a query does not move a workflow's clock.
 */
export function nextSlotAt({ leases }: Pick<ThrottleView, 'leases'>, now: Date): number | null {
  return leases.find(({ notBefore }) => notBefore > now.getTime())?.notBefore ?? null;
}

export function view(state: ThrottleState, now: number): ThrottleView {
  const reserved = state.leases.toSorted((one, other) => one.lease.notBefore - other.lease.notBefore);
  const gap = minDelayFor(state, reserved[0]?.ask ?? null, 0.5);
  const blockedUntil = state.blockedUntil !== null && state.blockedUntil > now ? state.blockedUntil : null;
  return {
    domain: state.domain,
    now,
    phase: phaseOf(state, blockedUntil, now),
    gapMs: gap.ms,
    gapReason: gap.reason,
    operatorDelay: state.operatorDelay,
    crawlDelayMs: longestCrawlDelay(state),
    backoffMs: state.backoffMs,
    blockedUntil,
    outages: Object.entries(state.outages).map(([origin, { grewAfter: _, ...outage }]) => ({
      origin,
      ...outage,
    })),
    reserved: state.leases.length,
    leases: reserved.slice(0, MAX_SHOWN).map(({ lease: { id, notBefore, startBy }, ask }) => ({
      id,
      workflowId: ask.workflowId,
      crawlId: ask.crawlId,
      notBefore,
      startBy,
    })),
    waiting: state.waiting.length,
    recent: {
      requests: state.stats.recentResponses.length,
      failures: state.stats.recentResponses.filter(isFailure).length,
    },
    stats: { ...state.stats },
  };
}

function isFailure(responseClass: ResponseClass): boolean {
  return responseClass !== 'ok' && responseClass !== 'not-found';
}

function phaseOf(state: ThrottleState, blockedUntil: number | null, now: number): ThrottleView['phase'] {
  if (state.openedAt === null) return 'loading';
  if (state.paused) return 'paused';
  if (blockedUntil !== null) return 'blocked';
  return isDown(state, now) ? 'down' : 'open';
}

/** A domain is down only if all of its origins are. */
function isDown({ outages, lastReached, leases }: ThrottleState, now: number): boolean {
  const known = [
    ...Object.keys(outages),
    ...Object.keys(lastReached),
    ...leases.map(({ ask }) => ask.origin),
  ];
  return known.length > 0 && known.every((origin) => (outages[origin]?.until ?? 0) > now);
}
