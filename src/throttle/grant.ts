/** Turning a ticket into a lease. */

import type { Lease } from '../core/slot-protocol.ts';
import { earliestStart, measurableFrom, minDelayFor } from './gap.ts';
import { eligible } from './origin-outage.ts';
import { removeGranted } from './queue.ts';
import { startWindowFor } from './start-window.ts';
import type { QueuedTicket, ThrottleState } from './state.ts';

/**
 * When the ticket, being next, gets its lease: a little ahead of its slot, so that the way to the worker costs no time.
 * null: not by waiting; only a release, an operator, or a write of the row lets it go.
 */
export function grantableAt(state: ThrottleState, next: QueuedTicket): number | null {
  if (state.openedAt === null || state.paused || state.leases.length >= allowedConcurrency(state, next))
    return null;
  if (next.delay.maxMs > state.persistedBounds.maxGapMs) return null;
  return earliestStart(state, next) - state.config.grantLeadMs;
}

/** As with the gap, the more careful one decides: those who are out tolerate no more company than they asked for. */
function allowedConcurrency({ leases }: ThrottleState, next: QueuedTicket): number {
  return Math.min(next.concurrency, ...leases.map((open) => open.concurrency));
}

/** Whose lease it is: the first part of its id. */
export function domainOfLease({ id }: Pick<Lease, 'id'>): string {
  return id.slice(0, id.indexOf('/'));
}

/** The caller has seen that the ticket is next and `grantableAt` has come. */
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
  const lease: Lease = {
    // Unique over all lives of all domains: requests are recorded under it. See domainOf.
    id: `${state.domain}/${(state.openedAt ?? now).toString(36)}/${number}`,
    ticket: next.ticket,
    notBefore,
    startBy,
    expiresAt: startBy + next.maxFetchMs,
    minGapMs: minDelayFor(state, next).ms,
    ...(follows === undefined ? {} : { follows }),
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
