/** How long after the last request the next one may start: the heart of politeness, decided here and nowhere else. */

import type { Ask, DelayRange } from '../core/slot-protocol.ts';
import type { LastStart, OpenLease, ThrottleState } from './state.ts';

/** Who wants the gap that long. */
export type GapReason = 'crawl' | 'operator' | 'crawl-delay' | 'backoff' | 'latency';

export interface ThrottleGap {
  ms: number;
  reason: GapReason;
}

/**
 * The gap between the requests so far and one for `next` (null: whoever comes). All ranges share one draw, so that a gap
 * between two pages of one crawl is spread evenly over its range, and a changed rule needs no new draw. Undrawn ranges
 * count in full.
 */
export function minDelayFor(
  state: ThrottleState,
  next: Pick<Ask, 'delay' | 'targetConcurrency'> | null,
  draw = state.draw ?? 1,
): ThrottleGap {
  const { operatorDelay, lastStart, leases } = state;
  const delaysAfter = [
    ...(lastStart ? [lastStart.delayAfter] : []),
    ...leases.map((open) => open.delayAfter),
  ];
  const wishes: ThrottleGap[] = [
    ...[...delaysAfter, ...(next ? [next.delay] : [])].map((delay) => crawlWish(delay, draw)),
    { ms: operatorDelay ? pointIn(operatorDelay, draw) : 0, reason: 'operator' },
    { ms: longestCrawlDelay(state), reason: 'crawl-delay' },
    { ms: state.backoffMs, reason: 'backoff' },
    { ms: latencyWish(state, next?.targetConcurrency ?? null), reason: 'latency' },
  ];
  return wishes.reduce((longest, wish) => (wish.ms > longest.ms ? wish : longest), {
    ms: 0,
    reason: 'crawl',
  });
}

/** No request for `next` may start before this. */
export function earliestStart(state: ThrottleState, next: Ask): number {
  const gapMs = minDelayFor(state, next).ms;
  // Where neither lease wants a gap, neither needs to wait for the other: the order of their starts is free.
  const inTheWay = state.leases.filter((open) => gapMs > 0 || open.lease.minGapMs > 0);
  const starts = [...(state.lastStart ? [state.lastStart.at] : []), ...inTheWay.map(latestStartOf)];
  return Math.max(state.blockedUntil ?? 0, ...starts.map((start) => start + gapMs));
}

/**
 * The lease of the last request, if its start is all that the next one waits for: who measures the gap from there keeps every
 * promise. A block is none of that: it ends by the throttle's clock.
 */
export function measurableFrom(
  { lastStart, leases, blockedUntil }: ThrottleState,
  now: number,
): string | undefined {
  const last = lastStart?.lease;
  if (last === undefined || (blockedUntil ?? 0) > now) return undefined;
  const others = leases.filter(({ lease }) => lease.id !== last.id);
  return others.every((open) => latestStartOf(open) <= last.notBefore) ? last.id : undefined;
}

/** Unreported, its holder may yet send the request at the very last moment. */
export function latestStartOf(open: OpenLease): number {
  return open.startedAt ?? open.lease.startBy;
}

/**
 * Starts only ever move later: an error must lengthen the gap, never shorten it. A report out of order may put a start
 * within the delay of another, which is then still delayAfter.
 */
export function recordStart(state: ThrottleState, start: LastStart): void {
  if (state.lastStart === null) {
    state.lastStart = start;
    return;
  }
  const [earlier, later] =
    start.at > state.lastStart.at ? [state.lastStart, start] : [start, state.lastStart];
  const isPaidOff = later.at - earlier.at >= earlier.delayAfter.minMs;
  // Both times are the latest possible. Only one that was granted after the other is sure to have been the later.
  const isSurelyLater =
    later.lease !== undefined &&
    (later.lease.notBefore >= earlier.at || later.lease.id === earlier.lease?.id);
  state.lastStart = {
    at: later.at,
    delayAfter: isPaidOff ? later.delayAfter : longerOf(earlier.delayAfter, later.delayAfter),
    ...(isSurelyLater ? { lease: later.lease } : {}),
  };
}

/** A draw made anew at each look would favour short delays: the first look to find one short enough would win. */
export function drawOnce(state: ThrottleState, random: () => number): void {
  state.draw ??= random();
}

export function longestCrawlDelay(state: ThrottleState): number {
  return Math.max(0, ...Object.values(state.crawlDelays));
}

function crawlWish(delay: DelayRange, draw: number): ThrottleGap {
  return { ms: pointIn(delay, draw), reason: 'crawl' };
}

/** A site that takes long to answer is asked less often: on average, so many requests of it are open as are aimed at. */
function latencyWish({ stats }: ThrottleState, targetConcurrency: Ask['targetConcurrency']): number {
  return targetConcurrency === null ? 0 : Math.ceil((stats.averageDurationMs ?? 0) / targetConcurrency);
}

function pointIn({ minMs, maxMs }: DelayRange, draw: number): number {
  return Math.ceil(minMs + draw * (maxMs - minMs));
}

function longerOf(one: DelayRange, other: DelayRange): DelayRange {
  return { minMs: Math.max(one.minMs, other.minMs), maxMs: Math.max(one.maxMs, other.maxMs) };
}
