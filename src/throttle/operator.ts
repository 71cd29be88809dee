/** What an operator may change while a domain is crawled. Takes effect from the next grant, also for pages already queued. */

import type { DelayRange } from '../core/slot-protocol.ts';
import type { ThrottleState } from './state.ts';

/** null removes the operator's delay. */
export function setDelay(state: ThrottleState, delay: DelayRange | null): void {
  state.operatorDelay = delay;
  rememberChange(state, 'delay');
}

export function pause(state: ThrottleState): void {
  state.paused = true;
  rememberChange(state, 'paused');
}

export function resume(state: ThrottleState): void {
  state.paused = false;
  rememberChange(state, 'paused');
}

/**
 * Treats the domain as new, except for what politeness depends on: the last start, and the Crawl-delays, because robots.txt
 * is not read again before it is stale.
 */
export function reset(state: ThrottleState): void {
  setDelay(state, null);
  resume(state);
  forgetLearned(state);
  // Responses to requests that are in flight now do not increase the backoff either.
  state.backoffGrewAfter = state.stats.granted;
  rememberChange(state, 'learned');
}

/** Forgets what the site's responses have taught. */
export function forgetLearned(state: ThrottleState): void {
  state.backoffMs = 0;
  state.blockedUntil = null;
  state.outages = {};
  state.lastReached = {};
  state.stats = { ...state.stats, averageDurationMs: null, recentResponses: [] };
}

/** Until the row has been read, changes are remembered so that the row does not undo them. */
function rememberChange(state: ThrottleState, what: ThrottleState['changedBeforeOpening'][number]): void {
  if (state.openedAt === null && !state.changedBeforeOpening.includes(what)) {
    state.changedBeforeOpening.push(what);
  }
}
