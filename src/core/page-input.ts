/** What a CrawlPage workflow is given. Types and constants only, so that storage, activities and workflows share them. */
import type { FetchLimits, RetrySettings } from './settings.ts';
import type { DelayRange } from './slot-protocol.ts';

/** A page the frontier has admitted and somebody must start. */
export interface AdmittedPage {
  pageId: string;
  urlHash: string;
  url: string;
  domain: string;
  /** Fetched for the URLs that it lists, not for itself. */
  sitemap?: true;
  priority: number;
  /** Attempts used up so far. */
  attempts: number;
  /** Not to be asked for before this (ms since the epoch); null: at once. */
  nextAt: number | null;
}

/** The part of a crawl's settings that its pages' workflows need; the rest is read where it is used. */
export interface PageSettings {
  delay: DelayRange;
  concurrency: number;
  /** null: off. */
  targetConcurrency: number | null;
  retry: RetrySettings;
  fetch: FetchLimits;
  longWaitMs: number;
  /** A fetch that is silent for this long is lost with its worker. */
  heartbeatMs: number;
  asking: Asking;
}

/** How patiently a page asks for its slots. */
export interface Asking {
  /** Added to the expected time of a grant before asking again; doubles with every ask ... */
  slackMs: number;
  /** ... up to this. */
  maxSlackMs: number;
  /** Before the next ask, where the last slots could not be used through no fault of the site. */
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
  /** The ask under way when the run ended: the next run goes on with the same ticket. */
  open: { domain: string; origin: string; atFront: boolean; asks: number; askedAt: number } | null;
  sentAndLost: number;
  robotsHop: RobotsHop | null;
}

/** The next request of a robots.txt that was redirected: each hop takes a slot of the host it leads to. */
export interface RobotsHop {
  /** Whose rules these will be. */
  origin: string;
  url: string;
  domain: string;
  hop: number;
}
