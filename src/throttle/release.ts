/** How leases end: once, by the first report or by expiry. Later reports may only move the last start later. */

import type { Release, RequestStart } from '../core/slot-protocol.ts';
import { learnFromResponse } from './backoff.ts';
import { latestStartOf, learnCrawlDelay, recordStart } from './gap.ts';
import { learnGrantToStart } from './start-window.ts';
import { MAX_FINISHED_LEASES, type OpenLease, type ThrottleState } from './state.ts';

export function release(state: ThrottleState, report: Release, now: number, random: () => number): void {
  expire(state, now);
  // True however late it arrives. Without it the site's Crawl-delay would be ignored until robots.txt is read again.
  if (report.crawlDelay) learnCrawlDelay(state, report.crawlDelay);

  const { use } = report;
  const open = state.leases.find(({ lease }) => lease.id === report.leaseId);
  if (!open) {
    if (use.kind === 'started') recordLateStart(state, report.leaseId, use, now);
    return;
  }
  switch (use.kind) {
    case 'started':
      recordOpenStart(state, open, use, now);
      state.stats.started += 1;
      learnFromResponse(state, open, use, now, random);
      finish(state, open);
      break;
    case 'unused':
      endUnused(state, open, now);
      break;
    case 'lost':
      endLost(state, open);
      break;
  }
}

/** An early report, so that with concurrency above 1 the next lease need not wait for this one's `startBy`. */
export function reportStarted(state: ThrottleState, leaseId: string, start: RequestStart, now: number): void {
  expire(state, now);
  const open = state.leases.find(({ lease }) => lease.id === leaseId);
  if (open) recordOpenStart(state, open, start, now);
  else recordLateStart(state, leaseId, start, now);
}

/** The page was closed when its grant arrived. Nobody holds the lease, unless it was also the answer to an ask. */
export function reportUndelivered(state: ThrottleState, leaseId: string, now: number): void {
  expire(state, now);
  const open = state.leases.find(({ lease }) => lease.id === leaseId);
  if (!open) return;
  if (open.answered) endLost(state, open);
  else endUnused(state, open, now);
}

/** Ends leases without a report after their time. */
export function expire(state: ThrottleState, now: number): void {
  const overdue = state.leases.filter(({ lease }) => lease.expiresAt <= now);
  for (const open of overdue) endLost(state, open);
}

export function endUnused(state: ThrottleState, open: OpenLease, now: number): void {
  // If two reports contradict each other, the one that saw a request counts.
  if (open.startedAt !== null) {
    endLost(state, open);
    return;
  }
  // The start window was too short for the request to start.
  if (now > open.lease.startBy) learnGrantToStart(state, now - open.grantedAt);
  state.stats.unused += 1;
  finish(state, open);
}

function endLost(state: ThrottleState, open: OpenLease): void {
  recordStart(state, { at: latestStartOf(open), delayAfter: open.delayAfter });
  state.stats.lost += 1;
  finish(state, open);
}

function recordOpenStart(state: ThrottleState, open: OpenLease, start: RequestStart, now: number): void {
  const at = plausibleStart(open.lease.notBefore, start, now);
  if (open.startedAt === null) learnGrantToStart(state, at - open.grantedAt);
  open.startedAt = Math.max(at, open.startedAt ?? at);
  const { id, notBefore } = open.lease;
  recordStart(state, { at: open.startedAt, delayAfter: open.delayAfter, lease: { id, notBefore } });
}

function recordLateStart(state: ThrottleState, leaseId: string, start: RequestStart, now: number): void {
  const finished = state.finished.find(({ id }) => id === leaseId);
  // A lease of a previous execution is unknown here, but the row has the delay of its crawl.
  const delayAfter = finished?.delayAfter ?? state.lastStart?.delayAfter ?? { minMs: 0, maxMs: 0 };
  const at = plausibleStart(finished?.notBefore ?? 0, start, now);
  const lease = finished && { lease: { id: finished.id, notBefore: finished.notBefore } };
  recordStart(state, { at, delayAfter, ...lease });
}

/** The earlier of the two reported limits, without those that cannot be true: before the lease, in the future, not a number. */
function plausibleStart(notBefore: number, { agoMs, latestAt }: RequestStart, now: number): number {
  const isPossible = (at: number): boolean => at >= notBefore && at <= now;
  return Math.min(now, ...[now - agoMs, latestAt ?? Number.NaN].map(Math.ceil).filter(isPossible));
}

function finish(state: ThrottleState, { lease, delayAfter }: OpenLease): void {
  state.leases = state.leases.filter((open) => open.lease.id !== lease.id);
  state.stats.active = state.leases.length;
  state.finished = [...state.finished, { id: lease.id, notBefore: lease.notBefore, delayAfter }].slice(
    -MAX_FINISHED_LEASES,
  );
}
