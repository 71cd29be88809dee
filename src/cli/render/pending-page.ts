/** Why a page that has not begun has not: its time, its crawl or its domain. */
import { formatDuration } from '../../core/format.ts';
import type { PageReport } from '../../storage/reports/page-report.ts';
import { originOf } from '../../urls/index.ts';
import type { DomainReport } from '../connect/domains.ts';
import { clock, REASONS, soon } from './domain.ts';
import { holdOf } from './domain-block.ts';

/** `domain` is null where nothing is known of it. */
export function pending(report: PageReport, domain: DomainReport | null, now: Date): string {
  const { page, crawl, before } = report;
  if (page.nextAt !== null)
    return `not before ${clock(page.nextAt, now)} (${soon(page.nextAt.getTime(), now)}): ${page.reason ?? 'it was put off.'}`;
  const { pending: ahead, queued } = before ?? { pending: 0, queued: 0 };
  const turn = ahead === 0 ? 'the next to begin' : `behind ${ahead} other${ahead === 1 ? '' : 's'}`;
  if (page.kind === 'sitemap')
    return `${turn}; sitemaps of ${page.domain} are read one at a time, and only while the crawl may fetch more pages than it knows${trouble(page, domain, now)}`;
  return (
    budgetSpent(crawl) ??
    warmingUp(report, now) ??
    `${turn}; ${queued} of ${crawl.window} places of ${page.domain} are taken${trouble(page, domain, now)}`
  );
}

/** null: more pages may begin. */
function budgetSpent({ budget }: PageReport['crawl']): string | null {
  if (budget === null || budget.reserved < budget.maxPages) return null;
  return `the crawl's budget is taken (maxPages: ${budget.maxPages}); it begins only if a page that has begun is not fetched after all, and is cancelled otherwise.`;
}

/** null: that is over, or does not concern it. */
function warmingUp({ page, crawl: { warmup } }: PageReport, now: Date): string | null {
  if (warmup === null || page.seed) return null;
  return `the crawl warms up: beside its start URLs nothing begins before ${warmup.pending} pages are pending or those are done, or ${clock(warmup.until, now)} (${soon(warmup.until.getTime(), now)}).`;
}

/** The rest of a sentence: what holds the domain, or how fast it goes. */
function trouble(page: PageReport['page'], domain: DomainReport | null, now: Date): string {
  const hold = domain && holdOf(domain, originOf(page.url), now);
  if (hold) return `; ${hold.origin ?? 'the domain'} ${hold.predicate}`;
  const live = domain?.live;
  if (!live || live.gapMs === 0) return '.';
  const next = live.nextGrantAt === null ? '' : `; the next slot is due ${soon(live.nextGrantAt, now)}`;
  return `${next}; the gap is ${formatDuration(live.gapMs)}, because of ${REASONS[live.gapReason]}.`;
}
