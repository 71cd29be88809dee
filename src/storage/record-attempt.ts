/**
 * The transaction that says what an attempt came to: attempt, request, page and links, all or nothing. Run again it
 * changes nothing: a status moves only while it is open, an attempt is written once.
 */
import type { AttemptReport, ParsedRef, RequestRecord } from '../attempt.ts';
import { type FinalStatus, finalStatusOf, isOpen } from '../outcome.ts';
import type { CrawlSettings } from '../settings.ts';
import type { PolitenessUnit } from '../urls/index.ts';
import { refund } from './admit.ts';
import type { Database } from './database.ts';
import { followRedirect } from './follow-redirect.ts';
import { Prisma } from './generated/client.ts';
import { lockPage, type PageRow, type Recorded } from './page-row.ts';
import { type OutLink, registerLinks } from './register-links.ts';
import { stepAside } from './step-aside.ts';

export interface AttemptToRecord {
  crawlId: string;
  pageId: string;
  /** 1 for the first. */
  attempt: number;
  report: AttemptReport;
  slotWaitMs: number;
  /** When the next attempt is due; null: this was the last. */
  retryAt: number | null;
  parsed: (ParsedRef & { links: readonly OutLink[] }) | null;
}

export async function recordAttempt(
  db: Database,
  settings: CrawlSettings,
  keyedBy: PolitenessUnit,
  done: AttemptToRecord,
): Promise<Recorded> {
  return db.$transaction(async (tx) => {
    const page = await lockPage(tx, done.pageId);
    if (page === null) return { goesOn: false, domains: [] };
    const repeated = page.attempts >= done.attempt;
    // A Pending page has no workflow that could speak for it, and holds nothing of the budget.
    const underWay = page.status === 'Queued' || page.status === 'Waiting';
    if (repeated || !underWay) return { goesOn: underWay, domains: [page.domain] };
    await insertAttempt(tx, page, done);
    if (done.retryAt !== null) {
      const reason = `attempt ${done.attempt} of ${settings.retry.maximumAttempts}: ${done.report.error ?? done.report.outcome}`;
      const goesOn = await stepAside(tx, settings, page, {
        until: done.retryAt,
        reason,
        attempts: done.attempt,
      });
      return { goesOn, domains: [page.domain] };
    }
    const domains = await finish(tx, settings, keyedBy, page, done);
    return { goesOn: false, domains: [page.domain, ...domains] };
  });
}

/** Ends an open page without an attempt: cancelled, or poisoned by a fault of our own. */
export async function endPage(
  db: Database,
  pageId: string,
  end: { status: FinalStatus; reason: string },
): Promise<Recorded> {
  return db.$transaction(async (tx) => {
    const page = await lockPage(tx, pageId);
    if (page === null) return { goesOn: false, domains: [] };
    if (isOpen(page.status)) {
      await tx.$executeRaw`
        UPDATE pages SET status = ${end.status}::page_status, reason = ${end.reason}, next_at = NULL, updated_at = now(),
                         failed_at = CASE WHEN ${end.status} = 'Failed' THEN now() END
        WHERE id = ${page.id}`;
      if (page.status !== 'Pending') await refund(tx, page.crawl_id);
    }
    return { goesOn: false, domains: [page.domain] };
  });
}

/** Attempt and request in one statement: this is the hottest path there is. */
async function insertAttempt(
  tx: Prisma.TransactionClient,
  page: PageRow,
  done: AttemptToRecord,
): Promise<void> {
  const { report, attempt } = done;
  const startedAt = report.request === null ? null : new Date(report.request.startedAt);
  const insert = Prisma.sql`
    INSERT INTO page_crawls (page_id, attempt, outcome, status_code, error_kind, error, priority, started_at, finished_at,
                             slot_wait_ms, latency_ms, bytes, next_attempt_at)
    VALUES (${page.id}, ${attempt}, ${report.outcome}::outcome, ${report.statusCode}::int, ${report.errorKind}, ${report.error},
            ${page.priority}, ${startedAt}::timestamptz, ${new Date(report.finishedAt)}, ${done.slotWaitMs}::int,
            ${report.latencyMs}::int, ${report.bytes}::int,
            ${done.retryAt === null ? null : new Date(done.retryAt)}::timestamptz)
    ON CONFLICT (page_id, attempt) DO NOTHING`;
  if (report.request === null) {
    await tx.$executeRaw(insert);
    return;
  }
  const request = requestRow({ ...report.request, purpose: 'page', crawlId: page.crawl_id, pageId: page.id });
  await tx.$executeRaw`WITH attempted AS (${insert}) ${request}`;
}

export type RequestRow = RequestRecord & { purpose: 'page' | 'robots'; crawlId: string; pageId: bigint };

/** The statement that records a request that went out. */
export function requestRow(request: RequestRow): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO requests (lease_id, domain, crawl_id, page_id, purpose, url, started_at, started_error_ms, min_gap_ms,
                          status_code, took_ms)
    VALUES (${request.leaseId}, ${request.domain}, ${request.crawlId}, ${request.pageId}, ${request.purpose}::purpose,
            ${request.url}, ${new Date(request.startedAt)}, ${request.startedErrorMs}::int, ${request.minGapMs}::int,
            ${request.statusCode}::int, ${request.tookMs}::int)
    ON CONFLICT DO NOTHING`;
}

/**
 * Writes the final status with what was found, and returns the domains of pages that became known by it. The order keeps
 * transactions from waiting in a ring: an insert waits for whoever is updating the row it collides with, so pages that
 * link to each other update their own rows only after their inserts; the crawl's row, which all of them want, is last.
 */
async function finish(
  tx: Prisma.TransactionClient,
  settings: CrawlSettings,
  keyedBy: PolitenessUnit,
  page: PageRow,
  { report, attempt, parsed }: AttemptToRecord,
): Promise<string[]> {
  const { found } = report;
  const status: FinalStatus = found.kind === 'redirect' ? 'Redirected' : finalStatusOf(report.outcome);
  const document = found.kind === 'document' ? found : null;
  const redirect =
    found.kind === 'redirect' ? await followRedirect(tx, settings, keyedBy, page, found.to) : null;
  const linked = parsed === null ? [] : await registerLinks(tx, settings, keyedBy, page, parsed.links);
  await tx.$executeRaw`
    UPDATE pages SET status = ${status}::page_status, reason = ${redirect?.refusal ?? report.error}, attempts = ${attempt}::int, next_at = NULL,
      status_code = ${report.statusCode}::int, title = ${parsed?.title ?? null}, language = ${parsed?.language ?? null},
      content_type = ${document?.contentType ?? null}, content_hash = ${document?.contentHash ?? null},
      content_bytes = ${document?.bytes ?? null}::int, parsed_hash = ${parsed?.hash ?? null},
      links_found = ${parsed?.linksFound ?? 0}::int, etag = ${document?.etag ?? null},
      last_modified = ${document?.lastModified ?? null}, updated_at = now(),
      redirect_to = ${found.kind === 'redirect' ? found.to : null},
      fetched_at = CASE WHEN ${status} = 'Fetched' THEN ${new Date(report.finishedAt)}::timestamptz END,
      failed_at = CASE WHEN ${status} = 'Failed' THEN ${new Date(report.finishedAt)}::timestamptz END
    WHERE id = ${page.id}`;
  if (status !== 'Fetched') await refund(tx, page.crawl_id);
  return [...(redirect?.domains ?? []), ...linked];
}
