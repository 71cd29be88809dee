/** Turns a ticket into a lease. */

import type { Lease } from '../core/slot-protocol.ts';
import { earliestStart, measurableFrom, minDelayFor } from './gap.ts';
import { eligible } from './origin-outage.ts';
import { removeGranted } from './queue.ts';
import { startWindowFor } from './start-window.ts';
import type { QueuedTicket, ThrottleState } from './state.ts';

/**
 * When the next ticket can be granted: a little before its slot, so that delivery of the lease costs no time. null: no
 * amount of waiting helps; it takes a release, an operator, or a write of the row.
 */
export function grantableAt(state: ThrottleState, next: QueuedTicket): number | null {
  const { openedAt, paused, leases, persistedBounds, config } = state;
  if (openedAt === null || paused || leases.length >= allowedConcurrency(state, next)) return null;
  if (next.delay.maxMs > persistedBounds.maxGapMs) return null;
  return earliestStart(state, next) - config.grantLeadMs;
}

/** As with the gap, the most careful crawl decides, including those that hold leases. */
function allowedConcurrency({ leases }: ThrottleState, next: QueuedTicket): number {
  return Math.min(next.concurrency, ...leases.map((open) => open.concurrency));
}

/** The caller has checked that the ticket is next and that `grantableAt` has passed. */
export function grant(
  state: ThrottleState,
  next: QueuedTicket,
  now: number,
  { answered }: { answered: boolean },
): Lease {
  const [oldest] = eligible(state, now).waiting;
  state.stats.granted += 1;
  const number = state.stats.granted;
  const notBefore = Math.max(now, earliestStart(state, next));
  const startBy = notBefore + startWindowFor(state, next.concurrency);
  const follows = measurableFrom(state, now);
  const minGapMs = minDelayFor(state, next).ms;
  const lease: Lease = {
    // Unique over all domains and executions, because requests are recorded under it.
    id: `${state.domain}/${(state.openedAt ?? now).toString(36)}/${number}`,
    ticket: next.ticket,
    notBefore,
    startBy,
    expiresAt: startBy + next.maxFetchMs,
    minGapMs,
    ...(follows === undefined ? {} : { follows }),
    // Without a gap no other lease waits for this start.
    ...(next.concurrency > 1 && minGapMs > 0 ? { reportStart: true } : {}),
  };
  state.leases.push({
    lease,
    number,
    workflowId: next.workflowId,
    crawlId: next.crawlId,
    origin: next.origin,
    delayAfter: next.delay,
    concurrency: next.concurrency,
    grantedAt: now,
    startedAt: null,
    answered,
  });
  state.stats.active = state.leases.length;
  state.draw = null;
  removeGranted(state.queue, next, oldest);
  return lease;
}

/** The domain whose throttle granted the lease: the first part of its id. */
export function domainOfLease({ id }: Pick<Lease, 'id'>): string {
  return id.slice(0, id.indexOf('/'));
}
