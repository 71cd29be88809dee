/** The state of a domain, and what keeps requests from it. From its throttle, or as stored if the throttle does not answer. */
import { formatClock, formatDuration } from '../core/format.ts';
import { describeOrigin } from '../core/order.ts';
import type { OriginOutage, StoredDomain } from '../core/slot-protocol.ts';
import type { RecordedOrder } from '../storage/orders.ts';
import type { GapReason } from '../throttle/gap.ts';
import type { ThrottleView } from '../throttle/view.ts';
import type { DomainReport } from './domains.ts';

export const GAP_REASONS: Record<GapReason, string> = {
  crawl: "the crawl's delay",
  operator: 'the delay set for the domain',
  'crawl-delay': 'Crawl-delay in robots.txt',
  backoff: 'backoff',
  latency: 'slow responses',
};

export type DescribedGap = Pick<ThrottleView, 'gapMs' | 'gapReason'>;

/** A gap of 0: nothing about the domain itself makes requests wait, and no crawl is asking. */
export function describeGapReason({ gapMs, gapReason }: DescribedGap): string {
  return gapMs === 0 ? "each crawl's own delay" : GAP_REASONS[gapReason];
}

export function describeGap(gap: DescribedGap): string {
  const reason = describeGapReason(gap);
  return gap.gapMs === 0 ? reason : `${formatDuration(gap.gapMs)} (${reason})`;
}

/** As far as the row tells, with a range at its middle; a future crawl may want a longer gap. */
export function storedGap({ delay, crawlDelays, backoffMs }: StoredDomain): DescribedGap {
  const gaps: DescribedGap[] = [
    { gapMs: delay === null ? 0 : (delay.minMs + delay.maxMs) / 2, gapReason: 'operator' },
    { gapMs: Math.max(0, ...Object.values(crawlDelays)), gapReason: 'crawl-delay' },
    { gapMs: backoffMs, gapReason: 'backoff' },
  ];
  return gaps.reduce((longest, gap) => (gap.gapMs > longest.gapMs ? gap : longest));
}

export function describeDomainState({ live, known, unanswered }: DomainReport, now: Date): string {
  if (live === null) {
    if (known?.stored.paused) return 'paused';
    const until = known?.stored.blockedUntil ?? 0;
    if (until > now.getTime()) return `blocked until ${formatClock(until, now)}`;
    const outages = confirmedOutages(known);
    if (outages.length === 0) return unanswered ? 'unknown' : 'idle';
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

/** A single failure after requests that succeeded is no outage before another page has confirmed it. */
export function isConfirmed({ failures }: Pick<OriginOutage, 'failures'>): boolean {
  return failures > 0;
}

export function confirmedOutages(known: DomainReport['known']): (OriginOutage & { origin: string })[] {
  return Object.entries(known?.stored.outages ?? {})
    .map(([origin, outage]) => ({ origin, ...outage }))
    .filter(isConfirmed);
}

/** As in "paused by anna (cli): the site is being repaired". */
export function describePause(order: RecordedOrder | null | undefined): string {
  return order == null ? 'by an operator' : describeOrigin(order);
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
  if (paused) return { origin: null, predicate: `is paused ${describePause(report.pausedBy)}.` };
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
      outage: live.outages.filter(isConfirmed).find((one) => one.origin === origin),
    };
  const blockedUntil = known?.stored.blockedUntil ?? 0;
  return {
    paused: known?.stored.paused ?? false,
    blockedUntil: blockedUntil > now.getTime() ? blockedUntil : null,
    outage: confirmedOutages(known).find((one) => one.origin === origin),
  };
}
