/**
 * The transaction that says what an attempt came to: attempt, request, page and links, all or nothing. Run again it
 * changes nothing: a status moves only while it is open, an attempt is written once.
 */
import pg from 'pg';
import type { AttemptReport, RequestRecord } from '../../core/attempt.ts';
import { type FinalStatus, finalStatusOf, isOpen } from '../../core/outcome.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import type { PolitenessUnit, SkipCounts } from '../../urls/index.ts';
import type { Database } from '../database.ts';
import { refundPage } from '../frontier/admit.ts';
import { Prisma } from '../generated/client.ts';
import type { Queries } from '../raw-sql.ts';
import { stepAside } from './defer-page.ts';
import { followRedirect } from './follow-redirect.ts';
import { isUnderWay, lockPage, type PageRow, type Recorded } from './page-row.ts';
import { type OutLink, registerLinks } from './register-links.ts';

export interface AttemptToRecord {
  crawlId: string;
  pageId: string;
  /** 1 for the first. */
  attempt: number;
  report: AttemptReport;
  slotWaitMs: number;
  /** When the next attempt is due; null: this was the last. */
  retryAt: number | null;
  parsed: ParsedRecord | null;
}

/** What the database keeps of a parsed document; the whole is in the content store. */
export interface ParsedRecord {
  /** Its key in the content store; null: a sitemap. */
  hash: string | null;
  title: string | null;
  description: string | null;
  canonical: string | null;
  language: string | null;
  detectedLanguage: string | null;
  /** Where a <meta> refresh leads; null: nowhere. */
  refreshTo: string | null;
  links: readonly OutLink[];
  linksFound: number;
  linksTooLong: number;
  /** Of a sitemap, whose entries were registered as it was read; null: a page. */
  listed: { skipped: Record<string, number> } | null;
  noindex: boolean;
}

export async function recordAttempt(
  db: Database,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  done: AttemptToRecord,
): Promise<Recorded> {
  const record = () => recordAtomically(db, settings, unit, done);
  // Two pages with the same new content at the same moment: the later one finds the other's row when it looks again.
  return record().catch((error: unknown) => (isSecondOriginal(error) ? record() : Promise.reject(error)));
}

function isSecondOriginal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.constraint === 'pages_originals';
}

function recordAtomically(
  db: Database,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  done: AttemptToRecord,
): Promise<Recorded> {
  return db.atomically(async (tx) => {
    const page = await lockPage(tx, done.pageId);
    if (page === null) return { goesOn: false, domains: [] };
    const repeated = page.attempts >= done.attempt;
    // A Pending page has no workflow that could speak for it, and holds nothing of the budget.
    const underWay = isUnderWay(page);
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
    const domains = await finish(tx, settings, unit, page, done);
    return { goesOn: false, domains: [page.domain, ...domains] };
  });
}

/** Ends an open page without an attempt: cancelled, or poisoned by a fault of our own. */
export async function endPage(
  db: Database,
  pageId: string,
  end: { status: FinalStatus; reason: string },
): Promise<Recorded> {
  return db.atomically(async (tx) => {
    const page = await lockPage(tx, pageId);
    if (page === null) return { goesOn: false, domains: [] };
    if (isOpen(page.status)) {
      await tx.$executeRaw`
        UPDATE pages SET status = ${end.status}::page_status, reason = ${end.reason}, next_attempt_at = NULL, updated_at = now(),
                         failed_at = CASE WHEN ${end.status} = 'Failed' THEN now() END
        WHERE id = ${page.id}`;
      if (page.status !== 'Pending') await refundPage(tx, page);
    }
    return { goesOn: false, domains: [page.domain] };
  });
}

/** Attempt and request in one statement: this is the hottest path there is. */
async function insertAttempt(tx: Queries, page: PageRow, done: AttemptToRecord): Promise<void> {
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

type RequestRow = RequestRecord & { purpose: 'page' | 'robots'; crawlId: string; pageId: bigint };

/** A request that was no attempt: for robots.txt, or a page's that was broken off by ourselves. It went out all the same. */
export async function recordRequest(
  db: Database,
  request: RequestRecord & { crawlId: string; pageId: string },
): Promise<void> {
  const purpose = request.allowedBy === null ? 'robots' : 'page';
  await db.$executeRaw(requestRow({ ...request, purpose, pageId: BigInt(request.pageId) }));
}

/** The statement that records a request that went out. */
function requestRow(request: RequestRow): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO requests (lease_id, domain, crawl_id, page_id, purpose, url, started_at, started_error_ms, min_gap_ms,
                          measured_from_lease_id, rules_id, product_token, status_code, duration_ms)
    VALUES (${request.leaseId}, ${request.domain}, ${request.crawlId}, ${request.pageId}, ${request.purpose}::request_purpose,
            ${request.url}, ${new Date(request.startedAt)}, ${request.startedErrorMs}::int, ${request.minGapMs}::int,
            ${request.measuredFrom ?? null}, ${request.allowedBy?.rulesId ?? null}::bigint, ${request.allowedBy?.agent ?? null}, ${request.statusCode}::int, ${request.durationMs}::int)
    ON CONFLICT DO NOTHING`;
}

/**
 * Writes the final status with what was found, and returns the domains of pages that became known by it. The order keeps
 * transactions from waiting in a ring: an insert waits for whoever is updating the row it collides with, so pages that
 * link to each other update their own rows only after their inserts; the crawl's row, which all of them want, is last.
 */
async function finish(
  tx: Queries,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  page: PageRow,
  { report, attempt, parsed }: AttemptToRecord,
): Promise<string[]> {
  const { found } = report;
  const redirectTo = found.kind === 'redirect' ? found.to : (parsed?.refreshTo ?? null);
  const status: FinalStatus = redirectTo === null ? finalStatusOf(report.outcome) : 'Redirected';
  const content = found.kind === 'document' || found.kind === 'file' ? found : null;
  const redirect = redirectTo === null ? null : await followRedirect(tx, settings, unit, page, redirectTo);
  const linked = parsed === null ? null : await registerLinks(tx, settings, unit, page, parsed.links);
  await tx.$executeRaw`
    UPDATE pages SET status = ${status}::page_status, reason = ${redirect?.refusal ?? report.error}, attempts = ${attempt}::int, next_attempt_at = NULL,
      status_code = ${report.statusCode}::int, title = ${parsed?.title ?? null},
      description = ${parsed?.description ?? null}, canonical_url = ${parsed?.canonical ?? null},
      language = ${parsed?.language ?? null}, detected_language = ${parsed?.detectedLanguage ?? null},
      content_type = ${content?.contentType ?? null}, content_hash = ${content?.contentHash ?? null},
      content_bytes = ${content?.bytes ?? null}::int, parsed_hash = ${parsed?.hash ?? null},
      duplicate_of_id = (SELECT id FROM pages WHERE crawl_id = ${page.crawl_id} AND content_hash = ${content?.contentHash ?? null}
                      AND duplicate_of_id IS NULL),
      links_found = ${parsed?.linksFound ?? 0}::int,
      links_skipped = ${parsed && linked && skippedOf(parsed, linked.skipped)}::jsonb,
      noindex = ${parsed?.noindex ?? content?.directives.noindex ?? false},
      nofollow = ${content?.directives.nofollow ?? false}, etag = ${content?.etag ?? null},
      last_modified = ${content?.lastModified ?? null}, updated_at = now(),
      redirect_to = ${redirectTo},
      fetched_at = CASE WHEN ${status} = 'Fetched' THEN ${new Date(report.finishedAt)}::timestamptz END,
      failed_at = CASE WHEN ${status} = 'Failed' THEN ${new Date(report.finishedAt)}::timestamptz END
    WHERE id = ${page.id}`;
  if (status !== 'Fetched') await refundPage(tx, page);
  return [...(redirect?.domains ?? []), ...(linked?.domains ?? [])];
}

/** As JSON; null: every link became a page. */
function skippedOf(
  { links, linksFound, linksTooLong, listed }: ParsedRecord,
  judged: SkipCounts,
): string | null {
  const beyondBound = linksFound - links.length;
  const skipped = listed?.skipped ?? {
    ...judged,
    ...(linksTooLong > 0 && { 'too long': linksTooLong }),
    ...(beyondBound > 0 && { 'too many on the page': beyondBound }),
  };
  return Object.keys(skipped).length === 0 ? null : JSON.stringify(skipped);
}
