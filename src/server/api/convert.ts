/** From what the program knows to what the API returns: dates as text, and nothing that is internal. */
import type { z } from '@hono/zod-openapi';
import { describeDomainState, GAP_REASONS } from '../../operator/describe-domain.ts';
import type { DomainReport } from '../../operator/domains.ts';
import type { RecordedOrder } from '../../storage/orders.ts';
import type { ListedPage } from '../../storage/reports/page-list.ts';
import { nextSlotAt } from '../../throttle/view.ts';
import type { NowCrawl } from '../overview.ts';
import type { CrawlSchema, DomainSchema, OrderSchema, PageSchema } from './schemas.ts';

export function toCrawl(overview: NowCrawl): z.infer<typeof CrawlSchema> {
  const { waiting: _, samples: __, isGrowing: ___, ...crawl } = overview;
  return {
    ...crawl,
    createdAt: crawl.createdAt.toISOString(),
    finishedAt: isoOrNull(crawl.finishedAt),
    pages: { ...crawl.pages },
  };
}

export function toPage(page: ListedPage): z.infer<typeof PageSchema> {
  return {
    crawl: page.crawlId,
    url: page.url,
    domain: page.domain,
    status: page.status,
    reason: page.reason,
    statusCode: page.statusCode,
    title: page.title,
    depth: page.depth,
    redirectTo: page.redirectTo,
    nextAttemptAt: isoOrNull(page.nextAttemptAt),
    fetchedAt: isoOrNull(page.fetchedAt),
    attempts: page.attempted.map((attempt) => ({
      attempt: attempt.attempt,
      outcome: attempt.outcome,
      statusCode: attempt.statusCode,
      errorKind: attempt.errorKind,
      error: attempt.error,
      startedAt: isoOrNull(attempt.startedAt),
      finishedAt: attempt.finishedAt.toISOString(),
      slotWaitMs: attempt.slotWaitMs,
      latencyMs: attempt.latencyMs,
      bytes: attempt.bytes,
      nextAttemptAt: isoOrNull(attempt.nextAttemptAt),
    })),
  };
}

export function toDomain(report: DomainReport, now: Date): z.infer<typeof DomainSchema> {
  const { domain, live, known } = report;
  const stored = known?.stored;
  const outages =
    live?.outages ?? Object.entries(stored?.outages ?? {}).map(([origin, outage]) => ({ origin, ...outage }));
  return {
    domain,
    state: describeDomainState(report, now),
    gapMs: live?.gapMs ?? stored?.minGapMs ?? null,
    gapReason: live === null ? null : GAP_REASONS[live.gapReason],
    delay: live?.operatorDelay ?? stored?.delay ?? null,
    crawlDelayMs: live?.crawlDelayMs ?? Math.max(0, ...Object.values(stored?.crawlDelays ?? {})),
    backoffMs: live?.backoffMs ?? stored?.backoffMs ?? 0,
    blockedUntil: isoOrNull(live?.blockedUntil ?? stored?.blockedUntil ?? null),
    paused: live === null ? (stored?.paused ?? false) : live.phase === 'paused',
    outages: outages.map(({ origin, since, until, error }) => ({
      origin,
      since: new Date(since).toISOString(),
      until: new Date(until).toISOString(),
      error,
    })),
    reserved: live?.reserved ?? 0,
    waiting: live?.waiting ?? 0,
    nextSlotAt: isoOrNull(live && nextSlotAt(live, now)),
    lastRequestAt: isoOrNull(known?.lastStart ?? null),
    requests: (live ?? stored)?.stats.started ?? 0,
    averageDurationMs: (live ?? stored)?.stats.averageDurationMs ?? null,
    live: live !== null,
  };
}

export function toOrder({ crawlId, givenAt, ...order }: RecordedOrder): z.infer<typeof OrderSchema> {
  return { ...order, crawl: crawlId, givenAt: givenAt.toISOString() };
}

function isoOrNull(at: Date | number | null): string | null {
  return at === null ? null : new Date(at).toISOString();
}
