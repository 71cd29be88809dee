/** How the site took a request, and what the throttle learns from it. Kept apart from the delay that people configure. */

import type { LeaseUse } from '../core/slot-protocol.ts';
import { movingAverage } from './average.ts';
import { minDelayFor } from './gap.ts';
import { endOfBlock } from './jitter.ts';
import { recordReached, recordUnreachable } from './origin-outage.ts';
import { MAX_RECENT_RESPONSES, type OpenLease, type ThrottleState } from './state.ts';

/** Where doubling begins for a site that had no gap to double. */
const SHORTEST_BACKOFF_MS = 1_000;

export function learnFromResponse(
  state: ThrottleState,
  open: OpenLease,
  use: Extract<LeaseUse, { kind: 'started' }>,
  now: number,
  random: () => number,
): void {
  const { stats } = state;
  if (use.responseClass === 'unknown') return;
  stats.recentResponses = [...stats.recentResponses, use.responseClass].slice(-MAX_RECENT_RESPONSES);
  if (use.responseClass !== 'unreachable') recordReached(state, open);
  switch (use.responseClass) {
    case 'ok':
      if (use.durationMs >= 0)
        stats.averageDurationMs = movingAverage(stats.averageDurationMs, use.durationMs);
      forgive(state, open);
      break;
    case 'not-found':
      forgive(state, open);
      break;
    case 'overloaded':
      stats.overloaded += 1;
      backOff(state, open);
      break;
    case 'client-error':
      break;
    case 'broken':
      stats.broken += 1;
      break;
    case 'unreachable':
      stats.unreachable += 1;
      recordUnreachable(state, open, use.error ?? 'No connection came about.', now, random);
      break;
  }
  if (use.retryAfterMs !== undefined && use.retryAfterMs > 0) {
    block(state, use.retryAfterMs, now, random);
  }
}

function backOff(state: ThrottleState, open: OpenLease): void {
  if (open.number <= state.backoffGrewAfter) return;
  const doubled = 2 * Math.max(open.lease.minGapMs, state.backoffMs);
  state.backoffMs = Math.min(state.config.maxBackoffMs, Math.max(SHORTEST_BACKOFF_MS, doubled));
  state.backoffGrewAfter = state.stats.granted;
}

/** A success that was on its way before the trouble says nothing about the time after it. */
function forgive(state: ThrottleState, open: OpenLease): void {
  if (open.number <= state.backoffGrewAfter) return;
  const halved = Math.floor(state.backoffMs / 2);
  const withoutBackoff = minDelayFor(
    { ...state, backoffMs: 0 },
    { delay: open.delayAfter, targetConcurrency: null },
  ).ms;
  state.backoffMs = halved < withoutBackoff ? 0 : halved;
}

function block(state: ThrottleState, retryAfterMs: number, now: number, random: () => number): void {
  const spanMs = Math.min(retryAfterMs, state.config.maxRetryAfterMs);
  state.blockedUntil = Math.max(state.blockedUntil ?? 0, endOfBlock(now, spanMs, random));
}
