/**
 * Origins that cannot be connected to. Their pages stand aside instead of each running into the same timeout; when the
 * down-time is over, one page at a time knocks (half-open), and its luck decides for all. Kept by origin: that
 * http://example.org:8080 refuses connections says nothing about https://example.org. Where requests got through before,
 * the first failure may be a hiccup: then the next page knocks at once, and only if that fails too is the origin down.
 */

import type { Ask, SlotAnswer } from '../core/slot-protocol.ts';
import { endOfBlock } from './jitter.ts';
import {
  MAX_ORIGINS,
  MAX_OUTAGES,
  type OpenLease,
  type OpenOutage,
  type Queue,
  type QueuedTicket,
  type ThrottleState,
} from './state.ts';

/** Pages that stood aside come back over this part of the down-time rather than in one rush. */
const RETURN_SPREAD = 0.25;

/** Of what went wrong, in characters: it comes from outside, and is carried along for as long as the outage lasts. */
const ERROR_KEPT = 300;

export function recordReached(state: ThrottleState, { origin, number }: OpenLease): void {
  const { [origin]: before = 0, ...others } = state.lastReached;
  state.lastReached = latestOf({ ...others, [origin]: Math.max(before, number) });
  const outage = state.outages[origin];
  // A connection that was made before the trouble says nothing about the time after it.
  if (outage && number > outage.grewAfter) delete state.outages[origin];
}

export function recordUnreachable(
  state: ThrottleState,
  { origin, number }: OpenLease,
  error: string,
  now: number,
  random: () => number,
): void {
  const { config, lastReached } = state;
  const isOvertaken = (lastReached[origin] ?? 0) > number;
  const known = state.outages[origin];
  if (isOvertaken || (known && number <= known.grewAfter)) return;
  // So long after its end that all would have been given up in between, nobody has tried: this one begins anew.
  const earlier = known && now <= known.until + config.outageGiveUpMs ? known : null;
  const failures = earlier ? earlier.failures + 1 : lastReached[origin] === undefined ? 1 : 0;
  const outage: OpenOutage = {
    since: earlier?.since ?? now,
    until: endOfBlock(now, downSpanMs(state, failures), random),
    failures,
    error: error.slice(0, ERROR_KEPT),
    grewAfter: state.stats.granted,
  };
  state.outages = longestOf({ ...state.outages, [origin]: outage });
}

/** What a page hears while its origin is down; null: it may stand in the queue. */
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
    retryAt: Math.ceil(until + RETURN_SPREAD * downSpanMs(state, failures) * random()),
    since,
    reason: `${origin} cannot be reached: ${error}`,
    givenUp: now - since >= state.config.outageGiveUpMs,
    now,
  };
}

/** The queue without those whose origin is down, or is being tried by another page. */
export function eligible(state: ThrottleState, now: number): Queue {
  const { queue, outages } = state;
  if (Object.keys(outages).length === 0) return queue;
  return { ...queue, waiting: queue.waiting.filter((ticket) => mayProbe(state, ticket, now)) };
}

/** When the next down-time ends that somebody in the queue waits for; null: nobody does. */
export function nextProbeAt({ queue, outages }: ThrottleState, now: number): number | null {
  if (Object.keys(outages).length === 0) return null;
  const ends = queue.waiting.map(({ origin }) => outages[origin]?.until ?? 0).filter((until) => until > now);
  return ends.length === 0 ? null : Math.min(...ends);
}

function mayProbe({ outages, leases }: ThrottleState, { origin }: QueuedTicket, now: number): boolean {
  const outage = outages[origin];
  if (!outage) return true;
  const isBeingTried = leases.some((open) => open.origin === origin && open.number > outage.grewAfter);
  return outage.until <= now && !isBeingTried;
}

function downSpanMs({ config }: ThrottleState, failures: number): number {
  return failures === 0 ? 0 : Math.min(config.maxOutageRetryMs, config.outageRetryMs * 2 ** (failures - 1));
}

function latestOf(lastReached: Record<string, number>): Record<string, number> {
  return Object.fromEntries(Object.entries(lastReached).slice(-MAX_ORIGINS));
}

function longestOf(outages: Record<string, OpenOutage>): Record<string, OpenOutage> {
  const longestFirst = Object.entries(outages).sort(([, one], [, other]) => other.until - one.until);
  return Object.fromEntries(longestFirst.slice(0, MAX_OUTAGES));
}
