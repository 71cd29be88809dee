/**
 * How long after the last request the next one may start. This is the core of politeness: `minDelayFor` alone decides the
 * gap, and `earliestStart` turns it into a time.
 */

import type { Ask, DelayRange, Release } from '../core/slot-protocol.ts';
import { type LastStart, MAX_ORIGINS, type OpenLease, type ThrottleState } from './state.ts';

/** What makes the gap as long as it is. */
export type GapReason = 'crawl' | 'operator' | 'crawl-delay' | 'backoff' | 'latency';

export interface ThrottleGap {
  ms: number;
  reason: GapReason;
}

/**
 * The gap between the requests so far and one for `next` (null: for any crawl) is the longest of all candidates. All ranges
 * use the same draw. So gaps within one crawl are spread evenly over its range, and a setting may change without a new draw.
 * Before the draw, the upper ends of the ranges count.
 */
export function minDelayFor(
  state: ThrottleState,
  next: Pick<Ask, 'delay' | 'targetConcurrency'> | null,
  draw = state.draw ?? 1,
): ThrottleGap {
  const { operatorDelay, lastStart, leases } = state;
  const crawlDelays = [
    ...(lastStart ? [lastStart.delayAfter] : []),
    ...leases.map(({ delayAfter }) => delayAfter),
    ...(next ? [next.delay] : []),
  ];
  const candidates: ThrottleGap[] = [
    ...crawlDelays.map((delay) => ({ ms: pointIn(delay, draw), reason: 'crawl' as const })),
    { ms: operatorDelay ? pointIn(operatorDelay, draw) : 0, reason: 'operator' },
    { ms: longestCrawlDelay(state), reason: 'crawl-delay' },
    { ms: state.backoffMs, reason: 'backoff' },
    { ms: latencyGapMs(state, next?.targetConcurrency ?? null), reason: 'latency' },
  ];
  const none: ThrottleGap = { ms: 0, reason: 'crawl' };
  return candidates.reduce((longest, candidate) => (candidate.ms > longest.ms ? candidate : longest), none);
}

/** No request for `next` may start before this time. */
export function earliestStart(state: ThrottleState, next: Ask): number {
  const gapMs = minDelayFor(state, next).ms;
  // Two leases without a gap do not wait for each other: either may start first.
  const earlier = state.leases.filter((open) => gapMs > 0 || open.lease.minGapMs > 0);
  const starts = [...(state.lastStart ? [state.lastStart.at] : []), ...earlier.map(latestStartOf)];
  return Math.max(state.blockedUntil ?? 0, ...starts.map((start) => start + gapMs));
}

/** Once per gap. If each tick drew again, the first short draw would win, and gaps would be shorter than configured. */
export function drawOnce(state: ThrottleState, random: () => number): void {
  state.draw ??= random();
}

/** A domain has one gap, so the longest Crawl-delay of its origins counts for all of them. */
export function longestCrawlDelay(state: ThrottleState): number {
  return Math.max(0, ...Object.values(state.crawlDelays));
}

export function learnCrawlDelay(
  state: ThrottleState,
  { origin, delayMs }: NonNullable<Release['crawlDelay']>,
): void {
  const { [origin]: _replaced, ...others } = state.crawlDelays;
  const hasDelay = delayMs !== null && delayMs > 0;
  state.crawlDelays = longestCrawlDelays(
    hasDelay ? { ...others, [origin]: Math.ceil(Math.min(delayMs, state.config.maxCrawlDelayMs)) } : others,
  );
}

/** Beyond the limit the shortest delays are dropped: they change nothing as long as the longer ones are known. */
export function longestCrawlDelays(delays: Record<string, number>): Record<string, number> {
  const longestFirst = Object.entries(delays).sort(([, one], [, other]) => other - one);
  return Object.fromEntries(longestFirst.slice(0, MAX_ORIGINS));
}

/** With this gap, `targetConcurrency` requests are open at a time on average. */
function latencyGapMs({ stats }: ThrottleState, targetConcurrency: Ask['targetConcurrency']): number {
  return targetConcurrency === null ? 0 : Math.ceil((stats.averageDurationMs ?? 0) / targetConcurrency);
}

function pointIn({ minMs, maxMs }: DelayRange, draw: number): number {
  return Math.ceil(minMs + draw * (maxMs - minMs));
}

/**
 * When a request started, as far as it is known. Errors move it later: they lengthen the gap, never shorten it. Without a report,
 * the holder of a lease may still send its request at the last moment.
 */
export function latestStartOf(open: OpenLease): number {
  return open.startedAt ?? open.lease.startBy;
}

/** Reports may come out of order. If a start lies within the delay after another one, both delays still apply. */
export function recordStart(state: ThrottleState, start: LastStart): void {
  if (state.lastStart === null) {
    state.lastStart = start;
    return;
  }
  const [earlier, later] =
    start.at > state.lastStart.at ? [state.lastStart, start] : [start, state.lastStart];
  const isDelayOver = later.at - earlier.at >= earlier.delayAfter.minMs;
  // Both are the latest possible times. Only a lease granted for a time after the other start certainly came second.
  const isCertainlyLater =
    later.lease !== undefined &&
    (later.lease.notBefore >= earlier.at || later.lease.id === earlier.lease?.id);
  state.lastStart = {
    at: later.at,
    delayAfter: isDelayOver ? later.delayAfter : longerOf(earlier.delayAfter, later.delayAfter),
    ...(isCertainlyLater ? { lease: later.lease } : {}),
  };
}

/**
 * Id of the lease of the last request, if its start is all that delays the next one: then the gap may be measured from it.
 * Not during a Retry-After, which ends by the throttle's clock.
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

function longerOf(one: DelayRange, other: DelayRange): DelayRange {
  return { minMs: Math.max(one.minMs, other.minMs), maxMs: Math.max(one.maxMs, other.maxMs) };
}
