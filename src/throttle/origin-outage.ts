/**
 * Origins that cannot be connected to. Their pages are deferred, so that not each of them runs into the same timeout. After
 * the retry time one page at a time probes the origin, as in a half-open circuit breaker, and the result counts for all. Outages
 * are kept per origin: if http://example.org:8080 refuses connections, https://example.org may still be up. If requests
 * succeeded before, a first failure may be a hiccup. Then the next page probes at once, and a second failure begins the outage.
 */

import type { Ask, SlotAnswer } from '../core/slot-protocol.ts';
import { jitteredEnd } from './numbers.ts';
import { MAX_ORIGINS, MAX_OUTAGES, type OpenLease, type OpenOutage, type ThrottleState } from './state.ts';

/** Deferred pages return over this fraction of the retry time rather than all at once. */
const RETURN_SPREAD = 0.25;

/** Errors come from outside and are carried along for the whole outage. */
const MAX_ERROR_LENGTH = 300;

export function recordReached(state: ThrottleState, { ask: { origin }, number }: OpenLease): void {
  const { [origin]: before = 0, ...others } = state.lastReached;
  state.lastReached = mostRecent({ ...others, [origin]: Math.max(before, number) });
  const outage = state.outages[origin];
  // A connection that was made before the last failure does not end the outage.
  if (outage && number > outage.grewAfter) delete state.outages[origin];
}

export function recordUnreachable(
  state: ThrottleState,
  { ask: { origin }, number }: OpenLease,
  error: string,
  now: number,
  random: () => number,
): void {
  const { config, lastReached } = state;
  const hasSucceededSince = (lastReached[origin] ?? 0) > number;
  const known = state.outages[origin];
  if (hasSucceededSince || (known && number <= known.grewAfter)) return;
  // After a time in which all pages would have been given up, this is a new outage.
  const earlier = known && now <= known.until + config.outageGiveUpMs ? known : null;
  const failures = earlier ? earlier.failures + 1 : lastReached[origin] === undefined ? 1 : 0;
  // Slots that are already reserved for this origin are void: their pages would run into the same failure.
  state.version += 1;
  const outage: OpenOutage = {
    since: earlier?.since ?? now,
    until: jitteredEnd(now, retryMs(state, failures), random),
    failures,
    error: error.slice(0, MAX_ERROR_LENGTH),
    validFrom: state.version,
    grewAfter: state.stats.granted,
  };
  state.outages = longestOutages({ ...state.outages, [origin]: outage });
}

/** The answer to an ask for an origin that is down. null: it may be contacted. */
export function downAnswer(
  state: ThrottleState,
  { origin }: Ask,
  now: number,
  random: () => number,
): Extract<SlotAnswer, { kind: 'down' }> | null {
  const outage = state.outages[origin];
  if (!outage || outage.until <= now) return null;
  const { until, since, failures, error } = outage;
  return {
    kind: 'down',
    retryAt: Math.ceil(until + RETURN_SPREAD * retryMs(state, failures) * random()),
    since,
    reason: `${origin} cannot be reached: ${error}`,
    givenUp: now - since >= state.config.outageGiveUpMs,
  };
}

/** Whether a page holds a lease to probe an origin that is down. Its result counts for all. */
export function isBeingProbed({ outages, leases }: ThrottleState, origin: string): boolean {
  const outage = outages[origin];
  return (
    outage !== undefined &&
    leases.some(({ ask, number }) => ask.origin === origin && number > outage.grewAfter)
  );
}

function retryMs({ config }: ThrottleState, failures: number): number {
  return failures === 0 ? 0 : Math.min(config.maxOutageRetryMs, config.outageRetryMs * 2 ** (failures - 1));
}

function mostRecent(lastReached: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(lastReached).slice(-MAX_ORIGINS));
}

function longestOutages(outages: Record<string, OpenOutage>): Record<string, OpenOutage> {
  const longestFirst = Object.entries(outages).sort(([, one], [, other]) => other.until - one.until);
  return Object.fromEntries(longestFirst.slice(0, MAX_OUTAGES));
}
