/** What keeps a whole domain from being asked, from its throttle or, where none answers, from what was written down. */
import type { OriginOutage } from '../../core/slot-protocol.ts';
import type { DomainReport } from '../connect/domains.ts';
import { clock } from './domain.ts';

export interface Hold {
  /** Set: it concerns this origin alone. */
  origin: string | null;
  /** What is the matter, to be said of the domain or the origin. */
  predicate: string;
}

/** null: nothing but its gap. A dead origin says nothing about its neighbours, so neither do theirs about this one. */
export function holdOf(report: DomainReport, origin: string, now: Date): Hold | null {
  const { paused, blockedUntil, outage } = troubleOf(report, origin, now);
  if (paused) return { origin: null, predicate: 'is paused by an operator.' };
  if (blockedUntil !== null)
    return {
      origin: null,
      predicate: `asked for patience (Retry-After) until ${clock(blockedUntil, now)}.`,
    };
  if (outage === undefined) return null;
  const again = outage.until > now.getTime() ? `at ${clock(outage.until, now)}` : 'now';
  return {
    origin,
    predicate: `cannot be reached since ${clock(outage.since, now)}, tried again ${again}: ${outage.error}`,
  };
}

interface Trouble {
  paused: boolean;
  blockedUntil: number | null;
  outage: Pick<OriginOutage, 'since' | 'until' | 'error'> | undefined;
}

function troubleOf({ live, known }: DomainReport, origin: string, now: Date): Trouble {
  if (live !== null)
    return {
      paused: live.phase === 'paused',
      blockedUntil: live.phase === 'blocked' ? (live.blockedUntil ?? live.now) : null,
      outage: live.outages.find((one) => one.origin === origin),
    };
  const blockedUntil = known?.stored.blockedUntil ?? 0;
  return {
    paused: known?.stored.paused ?? false,
    blockedUntil: blockedUntil > now.getTime() ? blockedUntil : null,
    outage: known?.stored.outages[origin],
  };
}
