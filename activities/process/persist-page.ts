/** persistPage: writes what happened to a page, lets in what that made room for, and returns the pages to start. */
import type { AttemptReport, Found, ParsedRef, RequestRecord } from '../../src/core/attempt.ts';
import type { FinalStatus } from '../../src/core/outcome.ts';
import type { AdmittedPage } from '../../src/core/page-input.ts';
import type { CrawlSettings } from '../../src/core/settings.ts';
import type { ParsedDocument } from '../../src/html/index.ts';
import { admit } from '../../src/storage/frontier/admit.ts';
import { admitSitemaps } from '../../src/storage/frontier/admit-sitemaps.ts';
import { announceSitemaps } from '../../src/storage/frontier/register-sitemaps.ts';
import { nothingUnderWay } from '../../src/storage/frontier/sweep.ts';
import { recordWait } from '../../src/storage/pages/defer-page.ts';
import { unlessNeverAllowed } from '../../src/storage/pages/never-allowed.ts';
import type { Recorded } from '../../src/storage/pages/page-row.ts';
import { endPage, type ParsedRecord, recordAttempt } from '../../src/storage/pages/record-attempt.ts';
import { sweepSignal } from '../../workflows/messages.ts';
import type { Deps } from '../deps.ts';
import { orPoison } from '../errors.ts';
import { makeNoteRequest } from '../fetch/record-request.ts';
import { readParsed } from './parse-page.ts';
import type { StoredSitemap } from './read-sitemap.ts';

export interface AttemptEvent {
  kind: 'attempt';
  attempt: number;
  report: AttemptReport;
  parsed: ParsedRef | null;
  slotWaitMs: number;
  /** When the next attempt is due; null: this was the last. */
  retryAt: number | null;
}

export type PageEvent =
  | AttemptEvent
  | { kind: 'waiting'; until: number; reason: string }
  /** `request`: one that went out, of an attempt that was never recorded. */
  | { kind: 'ended'; status: FinalStatus; reason: string; request?: RequestRecord };

export interface PersistInput {
  crawlId: string;
  pageId: string;
  event: PageEvent;
}

export interface PersistResult {
  /** The page's workflow goes on; false: it ends. */
  goesOn: boolean;
  start: AdmittedPage[];
}

export function makePersistPage(deps: Deps) {
  return async function persistPage(input: PersistInput): Promise<PersistResult> {
    try {
      return await persist(deps, input);
    } catch (error) {
      const { pageId, event } = input;
      throw orPoison(deps, error, {
        verdict: 'Unrecordable',
        sentence: 'It could not be recorded',
        log: { message: 'a page could not be recorded', pageId, event: event.kind },
      });
    }
  };
}

async function persist(deps: Deps, input: PersistInput): Promise<PersistResult> {
  const { settings } = await deps.crawlOf(input.crawlId);
  const { goesOn, domains } = await record(deps, settings, input);
  const admission = { crawlId: input.crawlId, by: occasion(input), domains: [...new Set(domains)] };
  if (settings.sitemaps) await admitSitemaps(deps.db, admission);
  const start = await admit(deps.db, {
    ...admission,
    window: settings.window,
    warmup: settings.warmup,
    // Many hosts that are found together would otherwise all fill their windows in one moment.
    atOnce: Math.ceil(settings.window / 2),
  });
  if (!goesOn && start.length === 0 && (await nothingUnderWay(deps.db, input.crawlId)))
    await nudge(deps, input.crawlId);
  return { goesOn, start };
}

async function record(
  deps: Deps,
  settings: CrawlSettings,
  { crawlId, pageId, event }: PersistInput,
): Promise<Recorded> {
  const { db, store, config } = deps;
  switch (event.kind) {
    case 'ended':
      if (event.request !== undefined) await makeNoteRequest(deps)({ ...event.request, crawlId, pageId });
      return endPage(db, pageId, event);
    case 'waiting':
      return recordWait(db, settings, pageId, event);
    case 'attempt': {
      const { kind: _, parsed: ref, ...attempt } = event;
      // The links of a page may be more than a history can hold: they come from the content store.
      const parsed = ref && recordOf(ref.hash, await readParsed(store, ref.hash), event.report.found);
      const announced = settings.sitemaps
        ? await announceSitemaps(db, settings, config.politenessKey, pageId)
        : [];
      const report = await unlessNeverAllowed(db, pageId, event.report);
      const done = { crawlId, pageId, ...attempt, report, parsed };
      const { goesOn, domains } = await recordAttempt(db, settings, config.politenessKey, done);
      return { goesOn, domains: [...domains, ...announced] };
    }
  }
}

/** What X-Robots-Tag and <meta> say adds up, and nofollow of the page holds for each of its links, its refresh among them. */
function recordOf(
  hash: string,
  { headings: _, text: __, sitemap, ...page }: ParsedDocument & Partial<Pick<StoredSitemap, 'sitemap'>>,
  found: Found,
): ParsedRecord {
  const header = found.kind === 'document' ? found.directives : { noindex: false, nofollow: false };
  const nofollow = page.nofollow || header.nofollow;
  return {
    ...page,
    hash,
    listed: sitemap === undefined ? null : { skipped: sitemap.skipped },
    noindex: page.noindex || header.noindex,
    links: nofollow ? page.links.map((link) => ({ ...link, nofollow })) : page.links,
    refreshTo: nofollow ? null : page.refreshTo,
  };
}

/** The same for every run of one persist, different for the next: see `admitted_by`. */
function occasion({ pageId, event }: PersistInput): string {
  switch (event.kind) {
    case 'attempt':
      return `${pageId}:attempt:${event.attempt}`;
    case 'waiting':
      return `${pageId}:waiting:${event.until}`;
    case 'ended':
      return `${pageId}:ended`;
  }
}

/** Only a courtesy: without it the crawl's next sweep finds the same. */
async function nudge({ client, log }: Deps, crawlId: string): Promise<void> {
  try {
    await client.workflow.getHandle(crawlId).signal(sweepSignal);
  } catch (error) {
    log.debug({ crawlId, error }, 'the crawl could not be nudged');
  }
}
