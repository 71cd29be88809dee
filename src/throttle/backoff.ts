/** What the throttle learns from the site's responses. The backoff is kept apart from the configured delays. */

import type { LeaseUse } from '../core/slot-protocol.ts';
import { minDelayFor } from './gap.ts';
import { jitteredEnd, movingAverage } from './numbers.ts';
import { recordReached, recordUnreachable } from './origin-outage.ts';
import { MAX_RECENT_RESPONSES, type OpenLease, type ThrottleState } from './state.ts';

/** First backoff of a site whose gap is too short to double. */
const MIN_BACKOFF_MS = 1_000;

export function learnFromResponse(
  state: ThrottleState,
  open: OpenLease,
  use: Extract<LeaseUse, { kind: 'started' }> & { startedAt: number },
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
      reduceBackoff(state, open, use.startedAt);
      break;
    case 'not-found':
      reduceBackoff(state, open, use.startedAt);
      break;
    case 'overloaded':
      stats.overloaded += 1;
      increaseBackoff(state, open, use.startedAt, now);
      break;
    case 'client-error':
      break;
    case 'broken':
      stats.broken += 1;
      break;
    case 'unreachable':
      stats.unreachable += 1;
      recordUnreachable(state, open, use.error ?? 'The connection failed.', now, random);
      break;
  }
  if (use.retryAfterMs !== undefined && use.retryAfterMs > 0) {
    block(state, use.retryAfterMs, now, random);
  }
}

/** Doubles the gap, once for all requests that were in flight together. */
function increaseBackoff(state: ThrottleState, open: OpenLease, startedAt: number, now: number): void {
  if (startedAt <= state.backoffGrewAt) return;
  const doubled = 2 * Math.max(open.lease.minGapMs, state.backoffMs);
  state.backoffMs = Math.min(state.config.maxBackoffMs, Math.max(MIN_BACKOFF_MS, doubled));
  state.backoffGrewAt = now;
}

/** Halves the backoff after a success, unless that request was sent before the site was overloaded. */
function reduceBackoff(state: ThrottleState, open: OpenLease, startedAt: number): void {
  if (startedAt <= state.backoffGrewAt) return;
  const halved = Math.floor(state.backoffMs / 2);
  const { delay } = open.ask;
  const withoutBackoff = minDelayFor({ ...state, backoffMs: 0 }, { delay, targetConcurrency: null }, 1).ms;
  state.backoffMs = halved < withoutBackoff ? 0 : halved;
}

/** Slots that are already reserved are void: they may lie before its end. */
function block(state: ThrottleState, retryAfterMs: number, now: number, random: () => number): void {
  state.version += 1;
  state.validFrom = state.version;
  const blockMs = Math.min(retryAfterMs, state.config.maxRetryAfterMs);
  state.blockedUntil = Math.max(state.blockedUntil ?? 0, jitteredEnd(now, blockMs, random));
}
