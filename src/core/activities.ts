/**
 * The contract between workflows and activities: what each step is given and what it returns. Workflows call the steps
 * through workflows/proxies.ts and activities/ implements them. Everything here is plain JSON, small enough for a history.
 */
import type { AttemptReport, RequestRecord } from './attempt.ts';
import type { CarriedOut, OperatorOrder } from './order.ts';
import type { CrawlStatus, FinalStatus, Outcome, PageStatus } from './outcome.ts';
import type { AdmittedPage, Labels, PageSettings, RobotsHop } from './page-input.ts';
import type {
  Ask,
  Lease,
  LeaseReport,
  OpenedDomain,
  SlotAnswer,
  Staying,
  StoredDomain,
} from './slot-protocol.ts';

export interface Activities {
  // Of a page, in the order in which it needs them.
  acquireSlot(input: AcquireInput): Promise<AcquireResult>;
  fetchPage(input: FetchInput): Promise<FetchResult>;
  /** fetchPage and what follows it, unless the attempt is to be repeated, within a workflow task. `crowded`: this worker cannot. */
  fetchAndRecord(input: QuickFetchInput): Promise<FetchResult | { kind: 'crowded' }>;
  /** `passed`: the lease had passed the gate, so its request may have been sent. */
  releaseSlot(input: ReleaseInput): Promise<{ passed: boolean }>;
  processPage(input: ProcessInput): Promise<PersistResult>;
  readSitemap(input: SitemapInput): Promise<SitemapResult>;
  persistPage(input: PersistInput): Promise<PersistResult>;
  recordRequest(input: RequestRecord & { crawlId: string; pageId: string }): Promise<void>;
  recordRobotsUnavailable(input: RobotsUnavailable): Promise<RobotsUnavailableResult>;
  // Of a crawl.
  openCrawl(input: { crawlId: string; input: unknown }): Promise<OpenedCrawl>;
  /** null: the crawl is not on record. */
  sweepCrawl(input: { crawlId: string; by: string }): Promise<SweepResult | null>;
  applyCrawlOrders(input: { crawlId: string; orders: CrawlOrder[] }): Promise<void>;
  cancelPages(input: { crawlId: string }): Promise<{ open: number }>;
}

export interface ThrottleActivities {
  openDomain(input: { domain: string }): Promise<OpenedDomain>;
  /** `orders`: those that have made it what is stored now. false: a later execution has opened the row, and nothing was saved. */
  saveDomain(input: {
    domain: string;
    epoch: number;
    stored: StoredDomain;
    orders: CarriedOut[];
  }): Promise<boolean>;
}

export interface AcquireInput {
  pageId: string;
  domain: string;
  ask: Ask;
  /** How often this ticket has asked, this ask included: part of the update's id. */
  asks: number;
  /** How long the page's workflow waited for its first task. Unset: this is not its first ask. */
  waitedMs?: number;
}

export type AcquireResult =
  | Staying<SlotAnswer>
  /** The page has nothing left to do; `crawlOver`: because its crawl has ended. */
  | { kind: 'page-over'; crawlOver: boolean };

/** For a slot whose fetch could not report what became of it, or never ran. */
export interface ReleaseInput {
  domain: string;
  leaseId: string;
  report: UndeliveredReport;
}

export interface UndeliveredReport extends LeaseReport {
  /** The run of the fetch that it is about. Unset: whichever was let through with the lease. */
  passId?: string;
}

export interface FetchInput {
  crawlId: string;
  pageId: string;
  url: string;
  /** 1 for the first. */
  attempt: number;
  /** Fetches a sitemap, for which other content types and another size limit apply. */
  sitemap?: true;
  /** Whose slot this is: the page's domain, or the one that a redirected robots.txt led to. */
  domain: string;
  lease: Lease;
  ask: Ask;
  /** Longest time that it takes to connect. */
  connectTimeoutMs: number;
  robotsHop: RobotsHop | null;
  /** On the throttle's clock. Unset: Temporal tells when an activity was scheduled, unless it is a local one. */
  scheduledAt?: number;
}

export interface QuickFetchInput extends FetchInput {
  scheduledAt: number;
  /** When the attempt first asked for a slot. */
  askedAt: number;
}

/** What the page decides on. */
export type FetchOutcome =
  | { kind: 'attempt'; report: AttemptReport }
  /** An attempt that is on record already. */
  | { kind: 'recorded'; outcome: Outcome; persisted: PersistResult }
  /** The slot was not used: ask for another. This costs the page nothing. */
  | { kind: 'refused'; reason: string }
  /** The slot was spent on robots.txt: ask for the next one. */
  | { kind: 'robots-read' }
  | { kind: 'robots-moved'; hop: RobotsHop }
  /** Nobody may fetch this page before then. */
  | { kind: 'deferred'; until: number; reason: string }
  /**
   * Something on our side failed. `sent`: a request may have gone out. `cost`: see INTERNAL_COST; a worker that shuts down costs
   * nothing.
   */
  | { kind: 'internal-error'; reason: string; sent: boolean; cost: number };

export type FetchResult = FetchOutcome & {
  /** The report on the lease, if the fetch could not deliver it: the page delivers it. */
  undelivered?: UndeliveredReport;
  /** A request that was sent outside an attempt, if the fetch could not record it: the page records it. */
  request?: RequestRecord;
};

/** The outcome of one attempt, as it is recorded. */
export interface AttemptEvent {
  kind: 'attempt';
  attempt: number;
  report: AttemptReport;
  /** Set for a sitemap that was read. */
  sitemap?: SitemapCounts;
  slotWaitMs: number;
  /** When the next attempt is due; null: this was the last. */
  retryAt: number | null;
}

export type PageEvent =
  | AttemptEvent
  | { kind: 'waiting'; until: number; reason: string }
  /** `request`: one that was sent by an attempt that was never recorded. */
  | { kind: 'ended'; status: FinalStatus; reason: string; request?: RequestRecord };

export interface PersistInput {
  crawlId: string;
  pageId: string;
  event: PageEvent;
}

/** `event`: of an attempt that brought a document, which is parsed first. */
export interface ProcessInput {
  crawlId: string;
  pageId: string;
  url: string;
  event: AttemptEvent;
}

export interface PersistResult {
  /** false: the page's workflow ends. */
  continues: boolean;
  /** Pages that were admitted and have to be started. */
  start: AdmittedPage[];
  /** What the page's workflow returns; unset: the page is still open, or had been recorded before. */
  page?: PageSummary;
}

/** A page that has ended or gone back to the frontier, as people read it in Temporal. */
export interface PageSummary {
  status: PageStatus;
  title: string | null;
  /** Found on the page, followed or not. */
  links: number;
}

/**
 * The type of the failure that a step throws when the page itself is the reason, by the stage that failed. Temporal does not
 * retry it; the page does, by the crawl's retry policy, unless the same answer would come every time (SlotFault).
 */
export type PageFault = 'ParseFault' | 'RecordFault' | 'SlotFault';

/**
 * The type of the failure of a step for which its worker has no place now. A local activity is not retried, because it would occupy a
 * place meanwhile: the step goes on as a regular one.
 */
export const TURNED_AWAY = 'TurnedAway';

export interface SitemapInput {
  crawlId: string;
  pageId: string;
  url: string;
  contentHash: string;
  contentType: string;
}

/** Its entries are in the frontier by now. */
export interface SitemapCounts {
  entries: number;
  /** Entries that did not become pages, by reason. */
  skipped: Record<string, number>;
}

export type SitemapResult =
  /** `remark`: for the page's row. */
  { ok: true; counts: SitemapCounts; remark: string | null } | { ok: false; reason: string };

export interface RobotsUnavailable {
  /** Whose rules the file would hold. */
  origin: string;
  /** The page that found out. */
  pageId: string;
  error: string;
}

/** Old rules stay in force (as if they had just been read), or the page waits, or it has waited for too long. */
export type RobotsUnavailableResult = Extract<FetchOutcome, { kind: 'robots-read' | 'deferred' | 'attempt' }>;

export interface OpenedCrawl {
  settings: PageSettings;
  /** The crawl was being cancelled when its workflow was lost. */
  cancelling: boolean;
}

/** An order that a crawl's workflow accepts. */
export interface CrawlOrder extends OperatorOrder {
  kind: 'pause' | 'resume' | 'cancel';
}

export interface SweepResult {
  /** Pages by status. */
  pages: Record<string, number>;
  found: number;
  status: CrawlStatus;
  start: AdmittedPage[];
  /** Time until the next sweep. */
  nextMs: number;
  ended: boolean;
  /** As the worker knows now: an operator may have added the search attributes. Unset: as before. */
  labels?: Labels;
}
