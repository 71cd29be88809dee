/** The state of a domain, and what keeps requests from it. From its throttle, or as stored if the throttle does not answer. */
import { formatDuration } from '../../core/format.ts';
import type { OriginOutage } from '../../core/slot-protocol.ts';
import type { GapReason } from '../../throttle/gap.ts';
import type { ThrottleView } from '../../throttle/view.ts';
import type { DomainReport } from '../connect/domains.ts';
import { formatClock } from './text.ts';

export const GAP_REASONS: Record<GapReason, string> = {
  crawl: "the crawl's delay",
  operator: 'the delay set for the domain',
  'crawl-delay': 'Crawl-delay in robots.txt',
  backoff: 'backoff',
  latency: 'slow responses',
};

export function describeGap({ gapMs, gapReason }: Pick<ThrottleView, 'gapMs' | 'gapReason'>): string {
  return `${formatDuration(gapMs)} (${GAP_REASONS[gapReason]})`;
}

export function describeDomainState({ live, known }: DomainReport, now: Date): string {
  if (live === null) {
    if (known?.stored.paused) return 'paused';
    const until = known?.stored.blockedUntil ?? 0;
    if (until > now.getTime()) return `blocked until ${formatClock(until, now)}`;
    const outages = Object.values(known?.stored.outages ?? {});
    if (outages.length === 0) return 'idle';
    const lastRetryAt = Math.max(...outages.map((outage) => outage.until));
    return lastRetryAt > now.getTime()
      ? `down until ${formatClock(lastRetryAt, now)}`
      : 'down at last attempt';
  }
  switch (live.phase) {
    case 'loading':
      return 'starting';
    case 'open':
      return 'open';
    case 'paused':
      return 'paused';
    case 'blocked':
      return `blocked until ${formatClock(live.blockedUntil ?? live.now, now)}`;
    case 'down':
      return 'down';
  }
}

export interface DomainBlock {
  /** Set: only this origin is affected. */
  origin: string | null;
  /** Predicate of a sentence about the domain or the origin. */
  predicate: string;
}

/** null: nothing but its gap. An unreachable origin does not block other origins of its domain. */
export function findDomainBlock(report: DomainReport, origin: string, now: Date): DomainBlock | null {
  const { paused, blockedUntil, outage } = obstaclesOf(report, origin, now);
  if (paused) return { origin: null, predicate: 'is paused by an operator.' };
  if (blockedUntil !== null)
    return {
      origin: null,
      predicate: `asked for no requests until ${formatClock(blockedUntil, now)} (Retry-After).`,
    };
  if (outage === undefined) return null;
  return {
    origin,
    predicate: `has been unreachable since ${formatClock(outage.since, now)}; next attempt ${nextAttempt(outage, now)}. Error: ${outage.error}`,
  };
}

export function nextAttempt({ until }: Pick<OriginOutage, 'until'>, now: Date): string {
  return until > now.getTime() ? `at ${formatClock(until, now)}` : 'now';
}

interface Obstacles {
  paused: boolean;
  blockedUntil: number | null;
  outage: Pick<OriginOutage, 'since' | 'until' | 'error'> | undefined;
}

function obstaclesOf({ live, known }: DomainReport, origin: string, now: Date): Obstacles {
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
