/** Why a crawl is not done yet, in one sentence. Pure: the page and its JSON say the same. */
import { formatDuration, formatPlural } from '../core/format.ts';
import { describeOrigin, type OrderOrigin } from '../core/order.ts';
import type { CrawlOverview } from '../storage/reports/overview.ts';

/** null: nothing holds it back, because it has ended. */
export function whatHoldsBack(
  crawl: CrawlOverview,
  workers: 'running' | 'none' | 'unknown',
  { pausedBy, stop }: { pausedBy: OrderOrigin | null; stop: OrderOrigin | null },
): string | null {
  const { status, open, waiting } = crawl;
  if (waiting === null) return null;
  if (status === 'Cancelling') return `It is being cancelled; ${formatPlural(open, 'page')} still to end.`;
  if (status === 'Paused')
    return `It is paused ${pausedBy === null ? 'by an operator' : describeOrigin(pausedBy)}.`;
  if (stop !== null) return `Everything is stopped ${describeOrigin(stop)}.`;
  if (workers === 'none') return 'No worker is running.';
  if (open === 0) return 'All pages found so far are done; it ends at the next sweep.';
  const obstacles = [
    ...(waiting.paused > 0 ? [`${formatPlural(waiting.paused, 'domain')} paused by an operator`] : []),
    ...(waiting.down > 0 ? [`${formatPlural(waiting.down, 'site')} down`] : []),
    ...(waiting.blocked > 0 ? [`${formatPlural(waiting.blocked, 'site')} asked us to wait`] : []),
  ];
  const also = obstacles.length > 0 ? `; ${obstacles.join(', ')}` : '';
  if (waiting.slowest === null) return `${obstacles.join(', ')}.`;
  const { domain, pages, gapMs } = waiting.slowest;
  return `${domain} sets the pace: ${formatPlural(pages, 'page')} at ${formatDuration(gapMs)}${also}.`;
}

/** When it ends if no more pages are found: not before the slowest domain is done, nor faster than lately. null: not known. */
export function secondsLeft({ open, pagesPerSecond, status, waiting }: CrawlOverview): number | null {
  if (waiting === null || status !== 'Running' || open === 0) return null;
  const slowest = waiting.slowest === null ? 0 : (waiting.slowest.pages * waiting.slowest.gapMs) / 1_000;
  if (!pagesPerSecond) return slowest > 0 ? slowest : null;
  return Math.max(slowest, open / pagesPerSecond);
}
