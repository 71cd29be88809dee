/** How the site took a request, and what the throttle learns from it. Kept apart from the delay that people configure. */
import { movingAverage } from './average.ts';
import { minGapBefore } from './gap.ts';
import type { OpenLease, ThrottleState } from './state.ts';
import type { Use } from './types.ts';

/** Where doubling begins for a site that had no gap to double. */
const SHORTEST_BACKOFF_MS = 1_000;
/** A block ends up to this part later than asked for, so that not every crawler in the world is back on the second. */
const BLOCK_JITTER = 0.1;

export function learnFrom(
  state: ThrottleState,
  open: OpenLease,
  use: Extract<Use, { kind: 'started' }>,
  now: number,
  random: () => number,
): void {
  switch (use.reception) {
    case 'ok':
      if (use.tookMs >= 0) {
        state.stats.averageTookMs = movingAverage(state.stats.averageTookMs, use.tookMs);
      }
      forgive(state, open);
      break;
    case 'overloaded':
      state.stats.overloaded += 1;
      backOff(state, open);
      break;
    case 'unreachable':
      state.stats.unreachable += 1;
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
  const withoutBackoff = minGapBefore({ ...state, backoffMs: 0 }, { delay: open.owed }).ms;
  state.backoffMs = halved < withoutBackoff ? 0 : halved;
}

function block(state: ThrottleState, retryAfterMs: number, now: number, random: () => number): void {
  const spanMs = Math.min(retryAfterMs, state.config.maxRetryAfterMs);
  const until = Math.ceil(now + spanMs * (1 + BLOCK_JITTER * random()));
  state.blockedUntil = Math.max(state.blockedUntil ?? 0, until);
}
