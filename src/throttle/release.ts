/**
 * How leases end. A lease ends once, by the first report or by its expiry; whatever comes later may only move the last
 * start later.
 */

import type { Release, RequestStart } from '../core/slot-protocol.ts';
import { learnFromResponse } from './backoff.ts';
import { learnCrawlDelay } from './crawl-delays.ts';
import { latestStartOf, recordStart } from './gap.ts';
import { learnGrantToStart } from './start-window.ts';
import { MAX_FINISHED_LEASES, type OpenLease, type ThrottleState } from './state.ts';

export function release(state: ThrottleState, report: Release, now: number, random: () => number): void {
  expire(state, now);
  // A fact about the site, true however late it arrives; dropping it would mean a day of breaking the site's wish.
  if (report.crawlDelay) learnCrawlDelay(state, report.crawlDelay);

  const { use } = report;
  const open = state.leases.find(({ lease }) => lease.id === report.leaseId);
  if (!open) {
    if (use.kind === 'started') noteLateStart(state, report.leaseId, use, now);
    return;
  }
  switch (use.kind) {
    case 'started':
      noteOpenStart(state, open, use, now);
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

/** Told early, so that with concurrency above 1 the next lease need not wait for this one's `startBy`. */
export function reportStarted(state: ThrottleState, leaseId: string, start: RequestStart, now: number): void {
  expire(state, now);
  const open = state.leases.find(({ lease }) => lease.id === leaseId);
  if (open) noteOpenStart(state, open, start, now);
  else noteLateStart(state, leaseId, start, now);
}

/** The grant found its page closed, so nobody has the lease, unless it also went out as an answer to an ask. */
export function reportUndelivered(state: ThrottleState, leaseId: string, now: number): void {
  expire(state, now);
  const open = state.leases.find(({ lease }) => lease.id === leaseId);
  if (!open) return;
  if (open.answered) endLost(state, open);
  else endUnused(state, open, now);
}

/** Ends the leases that nobody reported in time. */
export function expire(state: ThrottleState, now: number): void {
  const overdue = state.leases.filter(({ lease }) => lease.expiresAt <= now);
  for (const open of overdue) endLost(state, open);
}

export function endUnused(state: ThrottleState, open: OpenLease, now: number): void {
  // It was reported as started before: of two who contradict each other the one who saw a request is believed.
  if (open.startedAt !== null) {
    endLost(state, open);
    return;
  }
  // Its window was too short to reach the wire.
  if (now > open.lease.startBy) learnGrantToStart(state, now - open.grantedAt);
  state.stats.unused += 1;
  finish(state, open);
}

function endLost(state: ThrottleState, open: OpenLease): void {
  recordStart(state, { at: latestStartOf(open), delayAfter: open.delayAfter });
  state.stats.lost += 1;
  finish(state, open);
}

function noteOpenStart(state: ThrottleState, open: OpenLease, start: RequestStart, now: number): void {
  const at = believedStart(open.lease.notBefore, start, now);
  if (open.startedAt === null) learnGrantToStart(state, at - open.grantedAt);
  open.startedAt = Math.max(at, open.startedAt ?? at);
  const { id, notBefore } = open.lease;
  recordStart(state, { at: open.startedAt, delayAfter: open.delayAfter, lease: { id, notBefore } });
}

function noteLateStart(state: ThrottleState, leaseId: string, start: RequestStart, now: number): void {
  const finished = state.finished.find(({ id }) => id === leaseId);
  // A lease of a former life is not remembered: its crawl's delay is in the row that life left behind.
  const delayAfter = finished?.delayAfter ?? state.lastStart?.delayAfter ?? { minMs: 0, maxMs: 0 };
  const at = believedStart(finished?.notBefore ?? 0, start, now);
  const lease = finished && { lease: { id: finished.id, notBefore: finished.notBefore } };
  recordStart(state, { at, delayAfter, ...lease });
}

/**
 * A start before its lease, in the future or not a number at all is nonsense. Of two ways to say when it was at the latest the
 * earlier one holds that is no nonsense; where both are, it counts as now.
 */
function believedStart(notBefore: number, { agoMs, latestAt }: RequestStart, now: number): number {
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
