/** What an operator may change while a domain is crawled. It applies at once, also to slots that are already reserved. */

import type { DelayRange } from '../core/slot-protocol.ts';
import type { ThrottleState } from './state.ts';

/** null removes the operator's delay. */
export function setDelay(state: ThrottleState, delay: DelayRange | null): void {
  state.operatorDelay = delay;
}

export function pause(state: ThrottleState): void {
  state.paused = true;
}

export function resume(state: ThrottleState): void {
  state.paused = false;
}

/**
 * Treats the domain as new, except for what politeness depends on: the last start, and the Crawl-delays, because robots.txt
 * is not read again before it is stale.
 */
export function reset(state: ThrottleState, now: number): void {
  setDelay(state, null);
  resume(state);
  state.backoffMs = 0;
  // Responses to requests that are in flight now do not increase the backoff either.
  state.backoffGrewAt = now;
  state.blockedUntil = null;
  state.outages = {};
  state.lastReached = {};
  state.stats = { ...state.stats, averageDurationMs: null, recentResponses: [] };
}

/**
 * Takes back the slots that are not due yet and forgets who waits, because both were planned under the old rules. Returns the
 * workflows of these pages, which ask again.
 */
export function replan(state: ThrottleState, now: number): string[] {
  const notDue = state.leases.filter(({ lease }) => lease.notBefore > now);
  const pages = [...notDue.map(({ ask }) => ask), ...state.waiting].map(({ workflowId }) => workflowId);
  state.leases = state.leases.filter((open) => !notDue.includes(open));
  state.stats.unused += notDue.length;
  state.stats.active = state.leases.length;
  state.waiting = [];
  return pages;
}
