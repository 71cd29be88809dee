/** A robots.txt that is unavailable: what this means for its origin, and for the page that found out. */
import type { Activities, RobotsUnavailable, RobotsUnavailableResult } from '../../src/core/activities.ts';
import { reportWithoutRequest } from '../../src/core/attempt.ts';
import { saveRobotsFailure } from '../../src/storage/robots.ts';
import { jitteredEnd } from '../../src/throttle/numbers.ts';
import type { Deps } from '../deps.ts';
import { givenUp, isPatienceOver } from './robots-decision.ts';

/** Called by a page whose robots.txt was redirected to a host that is known to be down, so that no other page probes it. */
export function createRecordRobotsUnavailable(deps: Deps): Activities['recordRobotsUnavailable'] {
  return (unavailable) => deferOrigin(deps, { ...unavailable, statusCode: null, keepRunningBackoff: true });
}

/** Defers the pages of the origin, unless older rules are known. */
export async function deferOrigin(
  deps: Pick<Deps, 'db' | 'config'>,
  {
    origin,
    pageId,
    error,
    ...options
  }: RobotsUnavailable & { statusCode: number | null; keepRunningBackoff?: true },
): Promise<RobotsUnavailableResult> {
  const { robots, throttle } = deps.config;
  const maxBlockMs = jitteredEnd(0, throttle.maxRetryAfterMs, () => 1);
  const backoff = await saveRobotsFailure(deps.db, origin, { error, ...options, ...robots, maxBlockMs });
  // The last known rules stay in force, for this page as for every other.
  if (backoff.rulesKnown) return { kind: 'robots-read' };
  const reason = `robots.txt of ${origin}: ${error}`;
  // The page that tries must give up too, or its crawl would never end.
  if (await isPatienceOver(deps, pageId, backoff.failingForMs))
    return blocked(givenUp(reason, backoff.failingForMs));
  return { kind: 'deferred', until: backoff.until, reason };
}

/** An attempt that robots.txt forbids. */
export function blocked(reason: string): Extract<RobotsUnavailableResult, { kind: 'attempt' }> {
  return { kind: 'attempt', report: reportWithoutRequest('BlockedRobots', 'robots', reason, Date.now()) };
}
