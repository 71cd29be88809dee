/** When a page may expect its slot, as far as one can tell: the throttle's promise to nobody, but what people look at. */

import type { Ask } from '../core/slot-protocol.ts';
import { minDelayFor } from './gap.ts';
import type { OpenLease, QueuedTicket, ThrottleState } from './state.ts';

/** A full queue is asked again when about this part of it has been served: sooner, most would be refused once more. */
const PART_SERVED = 0.1;
/** Even where slots cost no time. */
const SHORTEST_WAIT_MS = 1_000;

/** When the n-th in the queue (1 is next) will be granted; if the domain is paused, counted as though it went on now. */
export function expectedAt(state: ThrottleState, next: Ask, place: number, now: number): number {
  return Math.ceil(expectedNext(state, next, now) + (place - 1) * spacingMs(state, next));
}

export function retryAt(state: ThrottleState, refused: Ask, now: number): number {
  const served = Math.ceil(state.config.queueLimit * PART_SERVED);
  return Math.max(now + SHORTEST_WAIT_MS, expectedAt(state, refused, served, now));
}

/** Whether a lease's start is still open or its end, the usual is expected; the gap comes on top of the last start. */
function expectedNext(
  state: ThrottleState,
  next: Pick<QueuedTicket, 'delay' | 'targetConcurrency' | 'concurrency' | 'origin'>,
  now: number,
): number {
  const gapMs = minDelayFor(state, next).ms;
  const starts = state.leases.map((open) => expectedStart(state, open, now));
  const last = state.lastStart ? [state.lastStart.at] : [];
  const freeAt = state.leases.length < next.concurrency ? now : Math.min(...starts) + usualFetchMs(state);
  return Math.max(
    now,
    freeAt,
    state.blockedUntil ?? 0,
    state.outages[next.origin]?.until ?? 0,
    ...[...last, ...starts].map((start) => start + gapMs),
  );
}

function expectedStart(state: ThrottleState, open: OpenLease, now: number): number {
  const usual = Math.max(now, open.lease.notBefore, open.grantedAt + (state.grantToStartMs ?? 0));
  return open.startedAt ?? Math.min(open.lease.startBy, usual);
}

/** Between two grants: the middle of the gap, or the fetches themselves where they take longer. */
function spacingMs(
  state: ThrottleState,
  next: Pick<QueuedTicket, 'delay' | 'targetConcurrency' | 'concurrency'>,
): number {
  const slotMs = usualFetchMs(state) + (state.grantToStartMs ?? 0);
  return Math.max(minDelayFor(state, next, 0.5).ms, slotMs / next.concurrency);
}

function usualFetchMs(state: ThrottleState): number {
  return state.stats.averageDurationMs ?? 0;
}
