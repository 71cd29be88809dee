/** Everything that is shown of one crawl. Its numbers add up: see test/reports. */
import { FINAL_STATUSES, OPEN_STATUSES } from '../core/outcome.ts';
import type { CrawlSettings } from '../core/settings.ts';
import { toSettings } from '../storage/crawls.ts';
import type { Database } from '../storage/database.ts';
import { type Cause, type Causes, readCauses } from '../storage/reports/causes.ts';
import { type CrawlSample, readLinkCounts, readSamples } from '../storage/reports/counts.ts';
import { hasEnded, type Progress, readProgress } from '../storage/reports/progress.ts';
import { readRemaining } from '../storage/reports/remaining.ts';
import type { SkipCounts } from '../urls/index.ts';
import { type Projection, project, thinOut } from './projection.ts';
import { type PoliteEnd, politeEnd } from './remaining-time.ts';

export interface FullCrawlReport {
  progress: Progress;
  createdAt: Date;
  finishedAt: Date | null;
  /** The first of them. */
  seeds: string[];
  seedCount: number;
  settings: CrawlSettings;
  done: number;
  open: number;
  /** Found and done over time, the present at the end. */
  samples: CrawlSample[];
  /** null: the crawl has ended, or has just begun. */
  projection: Projection | null;
  /** null: the crawl has ended. `domains` has those that take longest. */
  end: PoliteEnd | null;
  causes: Causes;
  ledger: Ledger;
  pageLedger: PageLedger;
}

/** What became of the links: `found` is the sum of `followed` and of all that was skipped. */
export interface Ledger {
  found: number;
  /** They lead to pages of the crawl, many to the same one. */
  followed: number;
  /** The most frequent first. */
  skipped: { reason: string; links: number }[];
}

/** What became of the pages that were found: all of them. */
export interface PageLedger {
  found: number;
  crawled: number;
  open: number;
  robots: number;
  /** By an operator, while the crawl ran. */
  excluded: number;
  rejected: number;
  /** With the crawl, or because it had as many pages as it may have. */
  cancelled: number;
}

const MAX_SEEDS = 10;
const MAX_SAMPLES = 150;
const MAX_DOMAINS = 25;

/** null: there is no such crawl. */
export async function readCrawlReport(
  db: Database,
  crawlId: string,
  now: Date,
): Promise<FullCrawlReport | null> {
  const [row, progress] = await Promise.all([
    db.crawl.findUnique({ where: { id: crawlId } }),
    readProgress(db, crawlId),
  ]);
  if (row === null || progress === null) return null;
  const settings = toSettings(row.settings);
  const isOpen = !hasEnded(progress);
  const [samples, remaining, causes, links] = await Promise.all([
    readSamples(db, crawlId),
    isOpen ? readRemaining(db, crawlId, settings) : null,
    readCauses(db, crawlId),
    readLinkCounts(db, crawlId),
  ]);
  const done = FINAL_STATUSES.reduce((sum, status) => sum + progress.pages[status], 0);
  const grown = withEnds(samples, row.createdAt, { at: row.finishedAt ?? now, found: progress.found, done });
  const end = remaining && politeEnd(remaining, now);
  return {
    progress,
    createdAt: row.createdAt,
    finishedAt: row.finishedAt,
    seeds: row.seeds.slice(0, MAX_SEEDS),
    seedCount: row.seeds.length,
    settings,
    done,
    open: OPEN_STATUSES.reduce((sum, status) => sum + progress.pages[status], 0),
    samples: thinOut(grown, MAX_SAMPLES),
    projection: isOpen ? project(grown, end?.remainingMs ?? 0) : null,
    end: end && { ...end, domains: end.domains.slice(0, MAX_DOMAINS) },
    causes,
    ledger: toLedger(links),
    pageLedger: toPageLedger(progress, causes),
  };
}

function withEnds(samples: readonly CrawlSample[], createdAt: Date, last: CrawlSample): CrawlSample[] {
  return [{ at: createdAt, found: 0, done: 0 }, ...samples.filter(({ at }) => at < last.at), last];
}

export function toLedger({ found, skipped }: { found: number; skipped: SkipCounts }): Ledger {
  const rows = Object.entries(skipped).map(([reason, links]) => ({ reason, links }));
  return {
    found,
    followed: found - rows.reduce((sum, { links }) => sum + links, 0),
    skipped: rows.sort((one, other) => other.links - one.links),
  };
}

/** `causes` is as of the crawl's last sweep: what it does not explain yet counts as rejected. */
export function toPageLedger(
  { found, pages }: Pick<Progress, 'found' | 'pages'>,
  { causes }: { causes: readonly Pick<Cause, 'status' | 'errorKind' | 'pages'>[] },
): PageLedger {
  const known = causes.filter(({ status, errorKind }) => status === 'Rejected' && errorKind === 'excluded');
  const excluded = Math.min(
    pages.Rejected,
    known.reduce((sum, cause) => sum + cause.pages, 0),
  );
  return {
    found,
    crawled: pages.Fetched + pages.Redirected + pages.Failed,
    open: OPEN_STATUSES.reduce((sum, status) => sum + pages[status], 0),
    robots: pages.Blocked,
    excluded,
    rejected: pages.Rejected - excluded,
    cancelled: pages.Cancelled,
  };
}
