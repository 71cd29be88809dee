/**
 * Records the result of an attempt in one transaction: attempt, request, page and links. Repeated, it changes nothing: a
 * status changes only while it is open, and an attempt is written once.
 */
import pg from 'pg';
import type { AttemptReport, RequestRecord } from '../../core/attempt.ts';
import { type FinalStatus, finalStatusOf, isOpen } from '../../core/outcome.ts';
import type { AdmittedPage } from '../../core/page-input.ts';
import type { CrawlSettings } from '../../core/settings.ts';
import { type PolitenessUnit, type SkipCounts, sumSkips } from '../../urls/index.ts';
import type { Database } from '../database.ts';
import { admitPages, countQueued, refundPage } from '../frontier/admit.ts';
import { Prisma } from '../generated/client.ts';
import type { Queries } from '../raw-sql.ts';
import { deferPage, deferred } from './defer-page.ts';
import { followRedirect } from './follow-redirect.ts';
import { changed, isAdmitted, lockPage, type PageRow, type Recorded } from './page-row.ts';
import { type OutLink, registerLinks } from './register-links.ts';

export interface AttemptToRecord {
  crawlId: string;
  pageId: string;
  /** 1 for the first. */
  attempt: number;
  report: AttemptReport;
  slotWaitMs: number;
  /** When the next attempt is due. null: this was the last one. */
  retryAt: number | null;
  parsed: ParsedRecord | null;
  /** Sitemaps that its robots.txt names, for a seed. They count as links of the page. */
  sitemapsSkipped?: SkipCounts;
  /** Unset: pages are admitted afterwards, if at all. */
  refill?: Refill;
}

/** Pages of the same domain to admit with the record, if nothing else is to be admitted: that saves a transaction. */
export interface Refill {
  admissionId: string;
  /** Pages are admitted once at most `refillAt` others are queued, up to `size` of them. */
  plan(domain: string, othersQueued: number): { refillAt: number; size: number };
}

/** The part of a parsed document that the database keeps; the content store has all of it. */
export interface ParsedRecord {
  /** Its key in the content store; null: a sitemap. */
  hash: string | null;
  title: string | null;
  description: string | null;
  canonical: string | null;
  language: string | null;
  detectedLanguage: string | null;
  /** The target of a <meta> refresh. null: none. */
  refreshTo: string | null;
  links: readonly OutLink[];
  linksFound: number;
  linksTooLong: number;
  /** Of a sitemap, whose entries were registered as it was read; null: a page. */
  listed: { skipped: Record<string, number> } | null;
  noindex: boolean;
}

const UNIQUE_VIOLATION = '23505';

export async function recordAttempt(
  db: Database,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  done: AttemptToRecord,
): Promise<Recorded> {
  const record = () => recordAtomically(db, settings, unit, done);
  // Two pages with the same new content were recorded at the same moment: the second try finds the row of the other.
  return record().catch((error: unknown) => (isSecondOriginal(error) ? record() : Promise.reject(error)));
}

/** By the code alone: each partition of `pages` has a name of its own for the index on originals. */
function isSecondOriginal(error: unknown): boolean {
  return error instanceof pg.DatabaseError && error.code === UNIQUE_VIOLATION;
}

function recordAtomically(
  db: Database,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  done: AttemptToRecord,
): Promise<Recorded> {
  return db.inTransaction(async (tx) => {
    const page = await lockPage(tx, done.pageId);
    if (page === null) return { continues: false, domains: [] };
    const repeated = page.attempts >= done.attempt;
    // A Pending page has no workflow, and no reservation in the budget.
    const admitted = isAdmitted(page);
    if (repeated || !admitted) return { continues: admitted, domains: [page.domain] };
    if (done.retryAt !== null) {
      await tx.$executeRaw`WITH ${insertsOf(page, done)} SELECT`;
      const limit = page.attempts_before + settings.retry.maximumAttempts;
      const reason = `attempt ${done.attempt} of ${limit}: ${done.report.error ?? done.report.outcome}`;
      const status = await deferPage(tx, settings, page, {
        until: done.retryAt,
        reason,
        attempts: done.attempt,
      });
      return deferred(page, status);
    }
    const { status, domains, othersQueued } = await finishPage(tx, settings, unit, page, done);
    const leadsElsewhere = domains.some((domain) => domain !== page.domain);
    const refilled = leadsElsewhere ? null : await refillOwn(tx, settings, page, othersQueued, done.refill);
    return {
      continues: false,
      domains: [page.domain, ...domains],
      othersQueued,
      ...(refilled !== null && { refilled }),
      became: changed(page, status),
    };
  });
}

/** Last, because it locks the domain. A budget would lock the crawl, which this transaction may have locked. */
async function refillOwn(
  tx: Queries,
  { window, maxPages }: CrawlSettings,
  { crawl_id: crawlId, domain }: PageRow,
  othersQueued: number,
  refill: Refill | undefined,
): Promise<AdmittedPage[] | null> {
  if (refill === undefined) return null;
  const { admissionId, plan } = refill;
  const { refillAt, size } = plan(domain, othersQueued);
  if (othersQueued > refillAt) return [];
  return maxPages === null ? admitPages(tx, { crawlId, window, admissionId }, domain, size) : null;
}

/** Ends an open page without an attempt: it was cancelled, or Amble itself failed on it. */
export async function closePage(
  db: Database,
  pageId: string,
  end: { status: FinalStatus; reason: string },
): Promise<Recorded> {
  return db.inTransaction(async (tx) => {
    const page = await lockPage(tx, pageId);
    if (page === null) return { continues: false, domains: [] };
    const wasOpen = isOpen(page.status);
    if (wasOpen) {
      await tx.$executeRaw`
        UPDATE pages SET status = ${end.status}::page_status, reason = ${end.reason}, next_attempt_at = NULL, updated_at = now(),
                         failed_at = CASE WHEN ${end.status} = 'Failed' THEN now() END
        WHERE id = ${page.id}`;
      if (page.status !== 'Pending') await refundPage(tx, page);
    }
    const ended = { continues: false, domains: [page.domain] };
    return wasOpen ? { ...ended, became: changed(page, end.status) } : ended;
  });
}

/** The attempt and its request, as parts of another statement, because this is the hottest path. */
function insertsOf(page: PageRow, done: AttemptToRecord): Prisma.Sql {
  const { report, attempt } = done;
  const startedAt = report.request === null ? null : new Date(report.request.startedAt);
  const attempted = Prisma.sql`attempted AS (
    INSERT INTO page_crawls (page_id, attempt, outcome, status_code, error_kind, error, priority, started_at, finished_at,
                             slot_wait_ms, latency_ms, bytes, next_attempt_at)
    VALUES (${page.id}, ${attempt}, ${report.outcome}::outcome, ${report.statusCode}::int, ${report.errorKind}, ${report.error},
            ${page.priority}, ${startedAt}::timestamptz, ${new Date(report.finishedAt)}, ${done.slotWaitMs}::int,
            ${report.latencyMs}::int, ${report.bytes}::int,
            ${done.retryAt === null ? null : new Date(done.retryAt)}::timestamptz)
    ON CONFLICT (page_id, attempt) DO NOTHING)`;
  if (report.request === null) return attempted;
  const request = requestRow({ ...report.request, purpose: 'page', crawlId: page.crawl_id, pageId: page.id });
  return Prisma.sql`${attempted}, requested AS (${request})`;
}

type RequestRow = RequestRecord & { purpose: 'page' | 'robots'; crawlId: string; pageId: bigint };

/** Records a request that is not an attempt: for robots.txt, or for a page whose fetch Amble aborted. It was sent nevertheless. */
export async function recordRequest(
  db: Database,
  request: RequestRecord & { crawlId: string; pageId: string },
): Promise<void> {
  const purpose = request.allowedBy === null ? 'robots' : 'page';
  await db.$executeRaw(requestRow({ ...request, purpose, pageId: BigInt(request.pageId) }));
}

function requestRow(request: RequestRow): Prisma.Sql {
  const { allowedBy, sentTo } = request;
  return Prisma.sql`
    INSERT INTO requests (lease_id, domain, crawl_id, page_id, purpose, url, started_at, started_error_ms, min_gap_ms,
                          address, address_block, sent_at, address_gap_ms, address_max_open,
                          rules_id, product_token, status_code, duration_ms)
    VALUES (${request.leaseId}, ${request.domain}, ${request.crawlId}, ${request.pageId}, ${request.purpose}::request_purpose,
            ${request.url}, ${new Date(request.startedAt)}, ${request.startedErrorMs}::int, ${request.minGapMs}::int,
            ${sentTo.address}, ${sentTo.block}, ${new Date(sentTo.at)}, ${sentTo.limit?.gapMs ?? null}::int, ${sentTo.limit?.maxOpen ?? null}::int,
            ${allowedBy?.rulesId ?? null}::bigint, ${allowedBy?.agent ?? null}, ${request.statusCode}::int, ${request.durationMs}::int)
    ON CONFLICT DO NOTHING`;
}

/**
 * Writes the final status with the results, and returns the domains of the pages that were found. The order of writes
 * prevents deadlocks: an insert waits for the transaction that is updating the row it collides with, so pages that link to
 * each other update their own rows after their inserts. The crawl's row, which all of them update, is last.
 */
async function finishPage(
  tx: Queries,
  settings: CrawlSettings,
  unit: PolitenessUnit,
  page: PageRow,
  done: AttemptToRecord,
): Promise<{ status: FinalStatus; domains: string[]; othersQueued: number }> {
  const { report, attempt, parsed, sitemapsSkipped = {} } = done;
  const { found } = report;
  const redirectTo = found.kind === 'redirect' ? found.to : (parsed?.refreshTo ?? null);
  const status: FinalStatus = redirectTo === null ? finalStatusOf(report.outcome) : 'Redirected';
  const content = found.kind === 'document' || found.kind === 'file' ? found : null;
  const redirect = redirectTo === null ? null : await followRedirect(tx, settings, unit, page, redirectTo);
  const linked = parsed === null ? null : await registerLinks(tx, settings, unit, page, parsed.links);
  const skipped = sumSkips(parsed && linked ? skippedOf(parsed, linked.skipped) : {}, sitemapsSkipped);
  const [updated] = await tx.$queryRaw<{ queued: number }[]>`
    WITH ${insertsOf(page, done)}
    UPDATE pages SET status = ${status}::page_status, reason = ${redirect?.refusal ?? report.error}, attempts = ${attempt}::int, next_attempt_at = NULL,
      status_code = ${report.statusCode}::int, error_kind = ${report.errorKind}, title = ${parsed?.title ?? null},
      description = ${parsed?.description ?? null}, canonical_url = ${parsed?.canonical ?? null},
      language = ${parsed?.language ?? null}, detected_language = ${parsed?.detectedLanguage ?? null},
      content_type = ${content?.contentType ?? null}, content_hash = ${content?.contentHash ?? null},
      content_bytes = ${content?.bytes ?? null}::int, parsed_hash = ${parsed?.hash ?? null},
      duplicate_of_id = (SELECT id FROM pages WHERE crawl_id = ${page.crawl_id} AND content_hash = ${content?.contentHash ?? null}
                      AND duplicate_of_id IS NULL),
      links_found = ${(parsed?.linksFound ?? 0) + totalOf(sitemapsSkipped)}::int,
      links_skipped = ${totalOf(skipped) === 0 ? null : JSON.stringify(skipped)}::jsonb,
      noindex = ${parsed?.noindex ?? content?.directives.noindex ?? false},
      nofollow = ${content?.directives.nofollow ?? false}, etag = ${content?.etag ?? null},
      last_modified = ${content?.lastModified ?? null}, updated_at = now(),
      redirect_to = ${redirectTo},
      fetched_at = CASE WHEN ${status} = 'Fetched' THEN ${new Date(report.finishedAt)}::timestamptz END,
      failed_at = CASE WHEN ${status} = 'Failed' THEN ${new Date(report.finishedAt)}::timestamptz END
    WHERE id = ${page.id}
    RETURNING ${countQueued(page.crawl_id, Prisma.sql`${page.domain}`, settings.window)}::int AS queued`;
  if (status !== 'Fetched') await refundPage(tx, page);
  // The count is from before the update.
  const othersQueued = (updated?.queued ?? 0) - (page.status === 'Queued' ? 1 : 0);
  return { status, domains: [...(redirect?.domains ?? []), ...(linked?.domains ?? [])], othersQueued };
}

function skippedOf(
  { links, linksFound, linksTooLong, listed }: ParsedRecord,
  judged: SkipCounts,
): SkipCounts {
  const beyondBound = linksFound - links.length;
  return (
    listed?.skipped ?? {
      ...judged,
      ...(linksTooLong > 0 && { 'too long': linksTooLong }),
      ...(beyondBound > 0 && { 'too many on the page': beyondBound }),
    }
  );
}

function totalOf(counts: SkipCounts): number {
  return Object.values(counts).reduce((total, count) => total + count, 0);
}
