/** A person's hand on the domain while it runs. Effective with the next grant, for the page already waiting too. */

import type { DelayRange } from '../core/slot-protocol.ts';
import type { ThrottleState } from './state.ts';

/** null: the domain has no delay of its own any more; the crawls' delays alone count. */
export function setDelay(state: ThrottleState, delay: DelayRange | null): void {
  state.operatorDelay = delay;
  changedBeforeOpening(state, 'delay');
}

export function pause(state: ThrottleState): void {
  state.paused = true;
  changedBeforeOpening(state, 'paused');
}

export function resume(state: ThrottleState): void {
  state.paused = false;
  changedBeforeOpening(state, 'paused');
}

/**
 * As though the domain were met for the first time, but for what politeness rests on: the last start, and the site's own
 * wish in robots.txt, which nobody would read again before it is stale.
 */
export function reset(state: ThrottleState): void {
  setDelay(state, null);
  resume(state);
  forgetLearned(state);
  changedBeforeOpening(state, 'learned');
}

/** What is in flight when a domain is reset was asked for before it: how that is received teaches no backoff any more. */
export function ignoreInFlight(state: ThrottleState): void {
  state.backoffGrewAfter = state.stats.granted;
}

/** What was learned from how the site answers. */
export function forgetLearned(state: ThrottleState): void {
  state.backoffMs = 0;
  state.blockedUntil = null;
  state.outages = {};
  state.lastReached = {};
  state.stats = { ...state.stats, averageDurationMs: null, recentResponses: [] };
}

function changedBeforeOpening(
  state: ThrottleState,
  what: ThrottleState['changedBeforeOpening'][number],
): void {
  if (state.openedAt === null && !state.changedBeforeOpening.includes(what)) {
    state.changedBeforeOpening.push(what);
  }
}
