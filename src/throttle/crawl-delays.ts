/** The Crawl-delays that the robots.txt files of a domain's origins name. The longest one counts for all of them. */

import type { Release } from '../core/slot-protocol.ts';
import { MAX_ORIGINS, type ThrottleState } from './state.ts';

export function learnCrawlDelay(
  state: ThrottleState,
  { origin, delayMs }: NonNullable<Release['crawlDelay']>,
): void {
  const { [origin]: _replaced, ...others } = state.crawlDelays;
  const isNamed = delayMs !== null && delayMs > 0;
  state.crawlDelays = longestOf(
    isNamed ? { ...others, [origin]: Math.ceil(Math.min(delayMs, state.config.maxCrawlDelayMs)) } : others,
  );
}

/** Too many origins: the shortest delays go, which decide nothing as long as the longer ones are there. */
export function longestOf(delays: Record<string, number>): Record<string, number> {
  const longestFirst = Object.entries(delays).sort(([, one], [, other]) => other - one);
  return Object.fromEntries(longestFirst.slice(0, MAX_ORIGINS));
}
