/** persistPage: records what happened to a page, admits pages that now have room, and returns them to be started. */
import type {
  Activities,
  AttemptEvent,
  PageEvent,
  PageSummary,
  PersistInput,
  PersistResult,
  SitemapCounts,
} from '../../src/core/activities.ts';
import type { AttemptReport, Found } from '../../src/core/attempt.ts';
import { isOpen, type PageStatus } from '../../src/core/outcome.ts';
import type { CrawlSettings } from '../../src/core/settings.ts';
import type { ParsedDocument } from '../../src/html/index.ts';
import { type Admitted, admit, isCrawlIdle } from '../../src/storage/frontier/admit.ts';
import { admitSitemaps } from '../../src/storage/frontier/admit-sitemaps.ts';
import { registerAnnouncedSitemaps } from '../../src/storage/frontier/register-sitemaps.ts';
import { deferWithoutAttempt } from '../../src/storage/pages/defer-page.ts';
import type { PageChange, Recorded } from '../../src/storage/pages/page-row.ts';
import {
  closePage,
  type ParsedRecord,
  recordAttempt,
  recordRequest,
} from '../../src/storage/pages/record-attempt.ts';
import { blockedIfRobotsNeverRead } from '../../src/storage/pages/robots-never-read.ts';
import { sweepSignal } from '../../workflows/messages.ts';
import type { Deps } from '../deps.ts';
import { isTransient, toPageFault } from '../errors.ts';
import { reserveSlots } from '../slot/reserve-slots.ts';

const UNHURRIED_MS = 1_000;

/**
 * How a domain's window is filled again: once at most `refillAt` other pages are queued, by up to `size` pages. `othersQueued` is unset if
 * they were not counted.
 */
type RefillPlan = (
  domain: string | undefined,
  othersQueued: number | undefined,
) => { refillAt: number; size: number };

/** Of a domain that begins. */
const FIRST_PAGES = 2;

/** A document, and its key in the content store. */
export interface StoredDocument {
  hash: string;
  document: ParsedDocument;
}

export function createPersistPage(deps: Deps): Activities['persistPage'] {
  return async function persistPage(input) {
    return persistOrFault(deps, input, null);
  };
}

/** `parsed`: what an attempt brought that fetched a document; null: none. */
export async function persistOrFault(
  deps: Deps,
  input: PersistInput,
  parsed: StoredDocument | null,
): Promise<PersistResult> {
  try {
    return await persist(deps, input, parsed);
  } catch (error) {
    const { pageId, event } = input;
    throw toPageFault(deps, error, {
      stage: 'RecordFault',
      sentence: 'The page could not be recorded',
      log: { message: 'could not record a page', pageId, event: event.kind },
    });
  }
}

async function persist(
  deps: Deps,
  input: PersistInput,
  parsed: StoredDocument | null,
): Promise<PersistResult> {
  const { settings } = await deps.crawlOf(input.crawlId);
  const plan = await planRefills(deps, input.crawlId, settings);
  const recorded = await record(deps, settings, input, parsed, plan);
  const { continues, became } = recorded;
  if (became !== undefined) observe(deps, input.event, became);
  const { pages, wasIdle } = await admitMore(deps, settings, input, recorded, plan);
  const reservation = { crawlId: input.crawlId, settings, admissionId: admissionIdFor(input) };
  const start = await reserveSlots(deps, reservation, pages);
  if (!continues && wasIdle && start.length === 0) await requestSweep(deps, input.crawlId);
  const page = became && !continues ? summaryOf(became.status, parsed, input.event) : undefined;
  return { continues, start, ...(page && { page }) };
}

async function admitMore(
  deps: Deps,
  settings: CrawlSettings,
  input: PersistInput,
  { domains, othersQueued, refilled }: Recorded,
  plan: RefillPlan,
): Promise<Admitted> {
  const { crawlId } = input;
  const { window, warmup, sitemaps } = settings;
  if (refilled !== undefined) {
    const mayBeIdle = refilled.length === 0 && othersQueued === 0;
    return { pages: refilled, wasIdle: mayBeIdle && (await isCrawlIdle(deps.db, crawlId)) };
  }
  const admission = {
    crawlId,
    admissionId: admissionIdFor(input),
    // Other domains have to wait for a sweep: a domain in progress keeps its pace before a new one begins.
    domains: deps.lateness.isBehind ? domains.slice(0, 1) : [...new Set(domains)],
  };
  if (sitemaps) await admitSitemaps(deps.db, admission);
  const { refillAt, size } = plan(domains[0], othersQueued);
  return admit(deps.db, { ...admission, window, warmup, refillAt, maxPerDomain: size });
}

/**
 * Several pages at a time, which saves workflow tasks, and never the whole window: otherwise many hosts that are found together would
 * all fill their windows at the same moment. With a second or more between requests, pages that begin late still get their slots in
 * time, and those that begin early only wait. The window of a domain that sets the end of its crawl is filled as soon as there is room
 * for two pages: if they begin late, because the machine is busy with those of other domains, the whole crawl takes longer. A domain that
 * begins gets a page for each of its next two slots: hosts often begin together, and what they need first must not wait for what they
 * need later.
 */
async function planRefills(
  { leadingDomains }: Deps,
  crawlId: string,
  { window, delay }: CrawlSettings,
): Promise<RefillPlan> {
  const half = Math.floor(window / 2);
  if (delay.minMs < UNHURRIED_MS) return () => ({ refillAt: half, size: window - half });
  const leading = await leadingDomains(crawlId);
  const quarter = Math.min(half, Math.ceil(window / 4));
  return (domain, othersQueued) => {
    if (domain !== undefined && leading.has(domain))
      return { refillAt: Math.max(quarter, window - 2), size: window };
    return { refillAt: quarter, size: othersQueued === 0 ? FIRST_PAGES : window - quarter };
  };
}

/** Sitemaps and a warm-up concern other domains too. */
function admitsOnlyOwn({ sitemaps, warmup }: CrawlSettings): boolean {
  return !sitemaps && warmup.pending === 0;
}

function summaryOf(status: PageStatus, parsed: StoredDocument | null, event: PageEvent): PageSummary {
  const { title = null, linksFound = 0 } = parsed?.document ?? {};
  const entries = event.kind === 'attempt' ? event.sitemap?.entries : undefined;
  return { status, title, links: entries ?? linksFound };
}

async function record(
  deps: Deps,
  settings: CrawlSettings,
  { crawlId, pageId, event }: PersistInput,
  parsed: StoredDocument | null,
  plan: RefillPlan,
): Promise<Recorded> {
  const { db, config } = deps;
  switch (event.kind) {
    case 'ended':
      if (event.request !== undefined) await createRecordRequest(deps)({ ...event.request, crawlId, pageId });
      return closePage(db, pageId, event);
    case 'waiting':
      return deferWithoutAttempt(db, settings, pageId, event);
    case 'attempt': {
      const { attempt, slotWaitMs, retryAt } = event;
      const announced = settings.sitemaps
        ? await registerAnnouncedSitemaps(db, settings, config.politenessKey, pageId)
        : null;
      const report = await blockedIfRobotsNeverRead(db, pageId, event.report);
      const recorded = await recordAttempt(db, settings, config.politenessKey, {
        crawlId,
        pageId,
        attempt,
        report,
        slotWaitMs,
        retryAt,
        parsed: parsedRecordOf(event, parsed),
        ...(announced && { sitemapsSkipped: announced.skipped }),
        ...(admitsOnlyOwn(settings) && {
          refill: { admissionId: admissionIdFor({ crawlId, pageId, event }), plan },
        }),
      });
      return { ...recorded, domains: [...recorded.domains, ...(announced?.domains ?? [])] };
    }
  }
}

function parsedRecordOf(
  { report, sitemap }: AttemptEvent,
  parsed: StoredDocument | null,
): ParsedRecord | null {
  if (sitemap !== undefined) return recordOfSitemap(sitemap);
  return parsed && recordOfPage(parsed, report.found);
}

/** The directives of X-Robots-Tag and <meta> add up. A page's nofollow applies to each of its links and to its refresh. */
function recordOfPage({ hash, document }: StoredDocument, found: Found): ParsedRecord {
  const { headings: _, text: __, ...page } = document;
  const header = found.kind === 'document' ? found.directives : { noindex: false, nofollow: false };
  const nofollow = page.nofollow || header.nofollow;
  return {
    ...page,
    hash,
    listed: null,
    noindex: page.noindex || header.noindex,
    links: nofollow ? page.links.map((link) => ({ ...link, nofollow })) : page.links,
    refreshTo: nofollow ? null : page.refreshTo,
  };
}

/** Its entries are not links: `pages.found_on_id` names the sitemap that each came from. */
function recordOfSitemap({ entries, skipped }: SitemapCounts): ParsedRecord {
  return {
    hash: null,
    title: null,
    description: null,
    canonical: null,
    language: null,
    detectedLanguage: null,
    refreshTo: null,
    links: [],
    linksFound: entries,
    linksTooLong: 0,
    listed: { skipped },
    noindex: false,
  };
}

/** The same for every run of one persist and different for the next: see `admission_id`. */
function admissionIdFor({ pageId, event }: PersistInput): string {
  switch (event.kind) {
    case 'attempt':
      return `${pageId}:attempt:${event.attempt}`;
    case 'waiting':
      return `${pageId}:waiting:${event.until}`;
    case 'ended':
      return `${pageId}:ended`;
  }
}

/** At info level, a page is one line of the log: its end. */
function observe({ metrics, log }: Deps, event: PageEvent, { status, ...page }: PageChange): void {
  if (event.kind === 'attempt') metrics.attemptRecorded(event.report, event.slotWaitMs);
  const fields = { ...page, status, ...(event.kind === 'attempt' && resultOf(event.report)) };
  if (isOpen(status)) {
    log.debug(fields, 'page deferred');
    return;
  }
  metrics.pageEnded(status);
  log.info(fields, 'page ended');
}

function resultOf({ outcome, statusCode, errorKind, bytes, latencyMs }: AttemptReport) {
  return { outcome, statusCode, errorKind, bytes, latencyMs };
}

/** Saves waiting for the crawl's next sweep, which would find the same. */
async function requestSweep({ client, log }: Deps, crawlId: string): Promise<void> {
  try {
    await client.workflow.getHandle(crawlId).signal(sweepSignal);
  } catch (error) {
    log.debug({ crawlId, err: error }, 'could not ask the crawl for a sweep');
  }
}

/**
 * recordRequest: records a request that its fetch could not record. The page must continue, even if a bug prevents this very request
 * from being recorded.
 */
export function createRecordRequest(deps: Deps): Activities['recordRequest'] {
  return async (request) => {
    try {
      await recordRequest(deps.db, request);
    } catch (error) {
      if (isTransient(deps, error)) throw error;
      deps.log.error({ request, err: error }, 'could not record a request');
    }
  };
}
