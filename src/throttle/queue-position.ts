/** Where a page stands in the queue, and when it can expect its slot. An estimate for people and timers, not a promise. */

import type { Ask } from '../core/slot-protocol.ts';
import { minDelayFor } from './gap.ts';
import { eligible } from './origin-outage.ts';
import { positionOf } from './queue.ts';
import type { OpenLease, QueuedTicket, ThrottleState } from './state.ts';

export type QueuePosition =
  | {
      kind: 'queued';
      /** 1 is next. */
      position: number;
      /** Length of the queue. */
      of: number;
      askedAt: number;
      /** null: the domain is paused. */
      expectedAt: number | null;
    }
  /** The page holds a lease. `startedAt` null: the start of its request has not been reported yet. */
  | { kind: 'granted'; notBefore: number; startBy: number; startedAt: number | null }
  /** The page wants no slot now: it is being fetched, parsed or recorded, or it sleeps. */
  | { kind: 'absent' };

export function queuePositionOf(state: ThrottleState, workflowId: string, now: number): QueuePosition {
  const open = state.leases.find((lease) => lease.workflowId === workflowId);
  if (open) {
    const { notBefore, startBy } = open.lease;
    return { kind: 'granted', notBefore, startBy, startedAt: open.startedAt };
  }
  const ticket = state.queue.waiting.find((waiting) => waiting.workflowId === workflowId);
  if (!ticket) return { kind: 'absent' };
  const position = currentPosition(state, ticket, now);
  return {
    kind: 'queued',
    position,
    of: state.queue.waiting.length,
    askedAt: ticket.askedAt,
    expectedAt: state.paused ? null : expectedAt(state, ticket, position, now),
  };
}

/** Among the tickets that may be granted now, or among all while the ticket's origin is down. */
export function currentPosition(state: ThrottleState, ticket: QueuedTicket, now: number): number {
  const queue = eligible(state, now);
  return positionOf(queue.waiting.includes(ticket) ? queue : state.queue, ticket);
}

/** When the ticket at this position (1 is next) will be granted. A paused domain counts as though it resumed now. */
export function expectedAt(state: ThrottleState, next: Ask, position: number, now: number): number {
  return Math.ceil(expectedNext(state, next, now) + (position - 1) * grantIntervalMs(state, next));
}

/** After a `full` answer, ask again when about this part of the queue has been served: earlier, most asks would fail again. */
const PART_SERVED = 0.1;
/** Even if slots take no time. */
const MIN_RETRY_MS = 1_000;

/** When to ask again after a `full` answer. */
export function retryAt(state: ThrottleState, refused: Ask, now: number): number {
  const served = Math.ceil(state.config.queueLimit * PART_SERVED);
  return Math.max(now + MIN_RETRY_MS, expectedAt(state, refused, served, now));
}

/** Starts and ends of leases that are not known yet are expected at their usual time. */
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

/** Time between two grants: the middle of the gap's range, or the time of the fetches themselves if that is longer. */
function grantIntervalMs(
  state: ThrottleState,
  next: Pick<QueuedTicket, 'delay' | 'targetConcurrency' | 'concurrency'>,
): number {
  const slotMs = usualFetchMs(state) + (state.grantToStartMs ?? 0);
  return Math.max(minDelayFor(state, next, 0.5).ms, slotMs / next.concurrency);
}

function usualFetchMs(state: ThrottleState): number {
  return state.stats.averageDurationMs ?? 0;
}
