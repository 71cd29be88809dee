/** A robots.txt that is out of reach: what that means for its origin, and for the page that found out. */
import { saveUnreachable } from '../../src/storage/robots.ts';
import { jitteredEnd } from '../../src/throttle/numbers.ts';
import type { Deps } from '../deps.ts';
import { blockedReport, type Unreported } from './fetch-page.ts';
import { givenUp, isPatienceOver } from './robots-decision.ts';

export type RobotsMissed = Extract<Unreported, { kind: 'robots-read' | 'held' | 'attempt' }>;

export interface Miss {
  /** Whose rules they would be. */
  origin: string;
  /** Who found out. */
  pageId: string;
  error: string;
}

/** Said by a page whose robots.txt was redirected to a host that is known to be down: nobody need knock there again. */
export function makeMissRobots(deps: Deps) {
  return async function missRobots(miss: Miss): Promise<RobotsMissed> {
    return noteMiss(deps, { ...miss, statusCode: null, unlessHeld: true });
  };
}

export async function noteMiss(
  deps: Pick<Deps, 'db' | 'config'>,
  { origin, pageId, error, ...how }: Miss & { statusCode: number | null; unlessHeld?: true },
): Promise<RobotsMissed> {
  const { robots, throttle } = deps.config;
  const longestBlockMs = jitteredEnd(0, throttle.maxRetryAfterMs, () => 1);
  const hold = await saveUnreachable(deps.db, origin, { error, ...how, ...robots, longestBlockMs });
  // The rules of before hold on, for this page as for every other.
  if (hold.rulesKnown) return { kind: 'robots-read' };
  const reason = `robots.txt of ${origin}: ${error}`;
  // The page that tries must give up too, or it would be the last one of its crawl, for ever.
  if (await isPatienceOver(deps, pageId, hold.failingForMs))
    return { kind: 'attempt', report: blockedReport(givenUp(reason, hold.failingForMs)) };
  return { kind: 'held', until: hold.until, reason };
}
