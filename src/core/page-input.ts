/** The input of a CrawlPage workflow. Types only, shared by storage, activities and workflows. */
import type { FetchLimits, RetrySettings } from './settings.ts';
import type { DelayRange, SlotAnswer, Staying } from './slot-protocol.ts';

/** A page that the frontier has admitted and whose workflow has to be started. */
export interface AdmittedPage {
  pageId: string;
  urlHash: string;
  url: string;
  domain: string;
  /** It is fetched for the URLs that it lists. */
  sitemap?: true;
  priority: number;
  /** Attempts so far. */
  attempts: number;
  /** Attempts before an operator had it retried: they do not count towards the limit. Unset: none. */
  attemptsBefore?: number;
  /** Not before this (ms since the epoch); null: at once. */
  nextAt: number | null;
  /** Its first slot, which was asked for when it was admitted. Unset: its workflow asks. */
  slot?: ReservedSlot;
}

/** A slot that was asked for before the page started. */
export interface ReservedSlot {
  ticket: string;
  /** Unset: there was none in time. */
  answer?: Staying<Exclude<SlotAnswer, { kind: 'down' }>>;
}

/** The settings of a crawl that its pages' workflows need; activities read the others. */
export interface PageSettings {
  delay: DelayRange;
  concurrency: number;
  /** null: off. */
  targetConcurrency: number | null;
  retry: RetrySettings;
  fetch: FetchLimits;
  longWaitMs: number;
  /** A fetch without a heartbeat for this long is lost with its worker. */
  heartbeatMs: number;
  asking: Asking;
  /** Unset: none. */
  labels?: Labels;
}

/** How workflows are labelled for the people who look at them in Temporal. */
export interface Labels {
  /** The namespace has Amble's search attributes. */
  searchAttributes: boolean;
  /** null: there is no dashboard to link to. */
  dashboardUrl: string | null;
}

/** How often a page asks for its slots. */
export interface Asking {
  /** Wait before the next ask if the last slots could not be used and the site is not the reason. */
  pauseMs: number;
}

export interface PageInput {
  crawlId: string;
  page: AdmittedPage;
  settings: PageSettings;
  /** Set by continue-as-new. */
  carry?: PageCarry;
}

/** What a page's next run must know of the ones before it. */
export interface PageCarry {
  /** Part of every ticket: the same through all runs. */
  firstRunId: string;
  /** Tickets drawn so far. */
  tickets: number;
  /** The ask in progress when the run ended: the next run continues with the same ticket. */
  open: OpenAsk | null;
  /** Of fetches that failed on our side since the last attempt that counted. */
  internalCost: number;
  robotsHop: RobotsHop | null;
}

export interface OpenAsk {
  ticket: string;
  domain: string;
  origin: string;
  atFront: boolean;
  /** How often the ticket has asked. */
  asks: number;
  askedAt: number;
}

/** The next request for a robots.txt that was redirected: each hop takes a slot of the host it leads to. */
export interface RobotsHop {
  /** Whose rules the file will hold. */
  origin: string;
  url: string;
  domain: string;
  hop: number;
}
