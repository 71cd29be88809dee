/** How leases end: once, by the first report or by expiry. What the throttle learns from a report is for later leases. */

import type { LeaseUse, Release } from '../core/slot-protocol.ts';
import { learnFromResponse } from './backoff.ts';
import { learnCrawlDelay } from './gap.ts';
import type { OpenLease, ThrottleState } from './state.ts';

export function release(state: ThrottleState, report: Release, now: number, random: () => number): void {
  expire(state, now);
  // True however late it arrives. Without it the site's Crawl-delay would be ignored until robots.txt is read again.
  if (report.crawlDelay) learnCrawlDelay(state, report.crawlDelay);

  const { use } = report;
  const open = state.leases.find(({ lease }) => lease.id === report.leaseId);
  if (!open) return;
  switch (use.kind) {
    case 'started':
      state.stats.started += 1;
      learnFromStarted(state, open, use, now, random);
      break;
    case 'unused':
      state.stats.unused += 1;
      break;
    case 'lost':
      recordStart(state, open, now);
      state.stats.lost += 1;
      break;
  }
  finish(state, open);
  if (use.kind === 'unused' && use.busy) state.busyAt = now;
}

/** Ends leases without a report after their time. */
export function expire(state: ThrottleState, now: number): void {
  for (const open of state.leases.filter((open) => expiresAt(open) <= now)) {
    state.stats.lost += 1;
    finish(state, open);
  }
}

export function expiresAt({ lease, ask }: OpenLease): number {
  return lease.startBy + ask.maxFetchMs;
}

function learnFromStarted(
  state: ThrottleState,
  open: OpenLease,
  use: Extract<LeaseUse, { kind: 'started' }>,
  now: number,
  random: () => number,
): void {
  const startedAt = plausibleStart(open, use.agoMs, now);
  recordStart(state, open, startedAt);
  learnFromResponse(state, open, { ...use, startedAt }, now, random);
}

function recordStart(state: ThrottleState, { ask }: OpenLease, at: number): void {
  if (at >= (state.lastStart?.at ?? 0)) state.lastStart = { at, delayAfter: ask.delay };
}

/** Not before the lease was granted, not in the future, and a number. */
function plausibleStart({ grantedAt }: OpenLease, agoMs: number, now: number): number {
  const at = Math.ceil(now - agoMs);
  return at >= grantedAt && at <= now ? at : now;
}

function finish(state: ThrottleState, { lease }: OpenLease): void {
  state.leases = state.leases.filter((open) => open.lease.id !== lease.id);
  state.stats.active = state.leases.length;
  state.busyAt = 0;
}
