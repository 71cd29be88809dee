/** Why a crawl is not done yet, in one sentence. Pure: the page and its JSON say the same. */
import { formatDuration, formatPlural } from '../core/format.ts';
import { describeOrigin, type OrderOrigin } from '../core/order.ts';
import type { WorkStatus } from '../operator/work-status.ts';
import type { RemainingTime } from '../reports/remaining-time.ts';
import type { CrawlOverview } from '../storage/reports/overview.ts';

/** The domains with open pages of a crawl. */
export interface OpenDomains {
  paused: number;
  /** Domains in a Retry-After. */
  blocked: number;
  /** Domains with an origin that cannot be connected to. */
  down: number;
  /** Of the others, the one that takes longest at its gap. */
  slowest: { domain: string; pages: number; gapMs: number } | null;
}

/** `domains`: those that take longest first. */
export function summariseOpenDomains(domains: readonly RemainingTime[]): OpenDomains {
  const workable = domains.filter((one) => !one.paused && one.blockedUntil === null && !one.down);
  const [slowest] = workable;
  return {
    paused: domains.filter(({ paused }) => paused).length,
    blocked: domains.filter(({ paused, blockedUntil }) => !paused && blockedUntil !== null).length,
    down: domains.filter(({ paused, blockedUntil, down }) => !paused && blockedUntil === null && down).length,
    slowest: slowest ? { domain: slowest.domain, pages: slowest.open, gapMs: slowest.gapMs } : null,
  };
}

export interface HeldBackCrawl extends Pick<CrawlOverview, 'status' | 'open'> {
  /** null: the crawl has ended. */
  waiting: OpenDomains | null;
}

/** `work` null: not known, because Temporal is unavailable. Returns null if nothing holds it back, because it has ended. */
export function whatHoldsBack(
  { status, open, waiting }: HeldBackCrawl,
  work: WorkStatus | null,
  { pausedBy, stop }: { pausedBy: OrderOrigin | null; stop: OrderOrigin | null },
): string | null {
  if (waiting === null) return null;
  if (status === 'Paused')
    return `Paused ${pausedBy === null ? 'by an operator' : describeOrigin(pausedBy)}.`;
  if (stop !== null && status === 'Running') return `Everything is stopped ${describeOrigin(stop)}.`;
  if (work?.active === false) return `It is stalled: ${work.reason}.`;
  if (status === 'Cancelling') return `It is being cancelled; ${formatPlural(open, 'page')} still to end.`;
  if (open === 0) return 'All pages found so far are done; it ends at the next sweep.';
  const obstacles = [
    ...(waiting.paused > 0 ? [`${formatPlural(waiting.paused, 'domain')} paused by an operator`] : []),
    ...(waiting.down > 0 ? [`${formatPlural(waiting.down, 'site')} down`] : []),
    ...(waiting.blocked > 0 ? [`${formatPlural(waiting.blocked, 'site')} asked us to wait`] : []),
  ];
  if (waiting.slowest === null)
    return obstacles.length > 0 ? `${obstacles.join(', ')}.` : 'Its next pages are about to start.';
  const also = obstacles.length > 0 ? `; ${obstacles.join(', ')}` : '';
  const { domain, pages, gapMs } = waiting.slowest;
  return `${domain} sets the pace: ${formatPlural(pages, 'page')} at ${formatDuration(gapMs)}${also}.`;
}
