/** Which outcomes a page retries, and when: Temporal's own retry policy as data, which the page's workflow applies itself. */
import type { Outcome } from './outcome.ts';
import type { RetrySettings } from './settings.ts';

/**
 * What a failure on our side costs a page. Only together they cost it an attempt: three lost requests or bugs, or twelve workers that
 * died before the request. Without a limit, a page that makes workers fail would do so for ever.
 */
export const INTERNAL_COST = { none: 0, diedBeforeRequest: 1, lostOrBug: 4, attempt: 12 } as const;

/** Only these are retried; every other outcome is final. */
export function isRetryable(outcome: Outcome): boolean {
  return outcome === 'Failed' || outcome === 'Timeout' || outcome === 'Blocked5xx';
}

/**
 * The wait after attempt number `attempt` (the first is 1); null: it was the last. Temporal cannot retry a fetch by itself,
 * because each attempt needs a slot of its own.
 */
export function retryDelayMs(retry: RetrySettings, attempt: number, random: () => number): number | null {
  if (attempt >= retry.maximumAttempts) return null;
  const grown = retry.initialIntervalMs * retry.backoffCoefficient ** (attempt - 1);
  return Math.round(Math.min(grown, retry.maximumIntervalMs) + random() * retry.jitterMs);
}
