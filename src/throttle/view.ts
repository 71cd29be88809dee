/** What a person sees of a domain: why its next page waits, and for how long. */

import type { DelayRange, DomainStats, OriginOutage, ResponseClass } from '../core/slot-protocol.ts';
import { type GapReason, longestCrawlDelay, minDelayFor } from './gap.ts';
import { eligible, nextProbeAt } from './origin-outage.ts';
import { nextInQueue, upcoming } from './queue.ts';
import { expectedAt } from './queue-position.ts';
import type { ThrottleState } from './state.ts';

const MAX_SHOWN = 10;

export interface ThrottleView {
  domain: string;
  now: number;
  /** `loading`: its row has not been read yet, so nothing is granted. `down`: all of its known origins are. */
  phase: 'loading' | 'open' | 'paused' | 'blocked' | 'down';
  /** The gap before the next request, and what makes it that long. */
  gapMs: number;
  gapReason: GapReason;
  operatorDelay: DelayRange | null;
  crawlDelayMs: number;
  backoffMs: number;
  /** End of a Retry-After. null: none. */
  blockedUntil: number | null;
  /** Origins whose last connection failed. */
  outages: Array<OriginOutage & { origin: string }>;
  /** Latest time at which a request may have started. null: none yet. */
  lastStart: number | null;
  /** null: the queue is empty, or the domain is paused. */
  nextGrantAt: number | null;
  waiting: number;
  /** The next few tickets in the order in which they will be granted. */
  next: Array<{ workflowId: string; crawlId: string; priority: number; askedAt: number }>;
  leases: Array<{
    id: string;
    workflowId: string;
    notBefore: number;
    startBy: number;
    startedAt: number | null;
  }>;
  /** How many of the last requests failed. */
  recent: { requests: number; failures: number };
  stats: DomainStats;
}

export function view(state: ThrottleState, now: number): ThrottleView {
  const queue = eligible(state, now);
  const next = nextInQueue(queue) ?? null;
  const gap = minDelayFor(state, next);
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
    outages: Object.entries(state.outages).map(([origin, { since, until, failures, error }]) => ({
      origin,
      since,
      until,
      failures,
      error,
    })),
    lastStart: state.lastStart?.at ?? null,
    nextGrantAt: state.paused ? null : next ? expectedAt(state, next, 1, now) : nextProbeAt(state, now),
    waiting: state.queue.waiting.length,
    next: upcoming(queue, MAX_SHOWN).map(({ workflowId, crawlId, priority, askedAt }) => ({
      workflowId,
      crawlId,
      priority,
      askedAt,
    })),
    leases: state.leases.map(({ lease: { id, notBefore, startBy }, workflowId, startedAt }) => ({
      id,
      workflowId,
      notBefore,
      startBy,
      startedAt,
    })),
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
function isDown({ outages, lastReached, queue }: ThrottleState, now: number): boolean {
  const known = [
    ...Object.keys(outages),
    ...Object.keys(lastReached),
    ...queue.waiting.map(({ origin }) => origin),
  ];
  return known.length > 0 && known.every((origin) => (outages[origin]?.until ?? 0) > now);
}
