/** The gap between two requests. This is the core of politeness: `minDelayFor` alone decides it. */

import type { Ask, DelayRange, Release } from '../core/slot-protocol.ts';
import { MAX_ORIGINS, type ThrottleState } from './state.ts';

/** What makes the gap as long as it is. */
export type GapReason = 'crawl' | 'operator' | 'crawl-delay' | 'backoff' | 'latency';

export interface ThrottleGap {
  ms: number;
  reason: GapReason;
}

/**
 * The gap before a request for `next` (null: for any crawl) is the longest of all candidates. All ranges use the same draw, from
 * 0 to 1, so gaps within one crawl are spread evenly over its range. The delay after the previous request is the gate's.
 */
export function minDelayFor(
  state: ThrottleState,
  next: Pick<Ask, 'delay' | 'targetConcurrency'> | null,
  draw: number,
): ThrottleGap {
  const { operatorDelay } = state;
  const candidates: ThrottleGap[] = [
    { ms: next ? pointIn(next.delay, draw) : 0, reason: 'crawl' },
    { ms: operatorDelay ? pointIn(operatorDelay, draw) : 0, reason: 'operator' },
    { ms: longestCrawlDelay(state), reason: 'crawl-delay' },
    { ms: state.backoffMs, reason: 'backoff' },
    { ms: latencyGapMs(state, next?.targetConcurrency ?? null), reason: 'latency' },
  ];
  return candidates.reduce((longest, candidate) => (candidate.ms > longest.ms ? candidate : longest));
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
