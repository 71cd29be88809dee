/** What an operator may change while a domain is crawled. It applies at once, also to slots that are already reserved. */

import { formatDelayRange } from '../core/duration.ts';
import { formatDuration } from '../core/format.ts';
import { NO_EFFECT } from '../core/order.ts';
import type { DelayRange, StoredDomain } from '../core/slot-protocol.ts';
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

type Rules = Omit<StoredDomain, 'stats'>;

/** What an order has changed, for its record. */
export function describeChange(before: Rules, after: Rules): string {
  const facts = (rules: Rules): Array<[name: string, value: string]> => [
    ['state', rules.paused ? 'paused' : 'open'],
    ['delay', rules.delay === null ? 'none' : formatDelayRange(rules.delay)],
    ['backoff', rules.backoffMs === 0 ? 'none' : formatDuration(rules.backoffMs)],
    ['Retry-After', rules.blockedUntil === null ? 'none' : new Date(rules.blockedUntil).toISOString()],
    ['origins down', Object.keys(rules.outages).join(' ') || 'none'],
  ];
  const is = new Map(facts(after));
  const changes = facts(before).filter(([name, was]) => is.get(name) !== was);
  return changes.map(([name, was]) => `${name} ${was} → ${is.get(name)}`).join(', ') || NO_EFFECT;
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
