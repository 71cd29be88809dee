/** A robots.txt that is out of reach: what that means for its origin, and for the page that found out. */
import { saveUnreachable } from '../src/storage/robots.ts';
import type { Deps } from './deps.ts';
import { blockedReport, type Unreported } from './fetch-page.ts';
import { givenUp } from './robots-decision.ts';

export type RobotsMissed = Extract<Unreported, { kind: 'robots-read' | 'held' | 'attempt' }>;

export interface Miss {
  /** Whose rules they would be. */
  origin: string;
  error: string;
}

/** Said by a page whose robots.txt was redirected to a host that is known to be down: nobody need knock there again. */
export function makeMissRobots(deps: Deps) {
  return async function missRobots(miss: Miss): Promise<RobotsMissed> {
    return noteMiss(deps, { ...miss, statusCode: null, unlessHeld: true });
  };
}

export async function noteMiss(
  { db, config }: Deps,
  { origin, error, ...how }: Miss & { statusCode: number | null; unlessHeld?: true },
): Promise<RobotsMissed> {
  const hold = await saveUnreachable(db, origin, { error, ...how, ...config.robots });
  // The rules of before hold on, for this page as for every other.
  if (hold.rulesKnown) return { kind: 'robots-read' };
  const reason = `robots.txt of ${origin}: ${error}`;
  // The page that tries must give up too, or it would be the last one of its crawl, for ever.
  if (hold.failingForMs > config.robots.giveUpMs)
    return { kind: 'attempt', report: blockedReport(givenUp(reason, hold.failingForMs)) };
  return { kind: 'held', until: hold.until, reason };
}
