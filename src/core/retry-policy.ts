/** The retry policy, which is Temporal's own type as data, as the wait that a page applies to itself. */
import type { RetrySettings } from './settings.ts';

/**
 * Wait after attempt number `attempt` (the first is 1), or null when it was the last. A fetch is retried by its page and
 * not by Temporal, because each attempt needs a slot of its own.
 */
export function retryDelayMs(retry: RetrySettings, attempt: number, random: () => number): number | null {
  if (attempt >= retry.maximumAttempts) return null;
  const grown = retry.initialIntervalMs * retry.backoffCoefficient ** (attempt - 1);
  return Math.round(Math.min(grown, retry.maximumIntervalMs) + random() * retry.jitterMs);
}
