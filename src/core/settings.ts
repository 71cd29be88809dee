/**
 * How one crawl behaves, with every default filled in: what `crawls.settings` keeps. Types only, so that workflow code
 * may import it; the schema that makes such a value out of what people type is in src/config.
 */
import type { DelayRange } from './slot-protocol.ts';

export type Scope = 'host' | 'site' | 'any';

/** Temporal's own RetryPolicy in milliseconds, plus jitter. */
export interface RetrySettings {
  initialIntervalMs: number;
  backoffCoefficient: number;
  /** Attempts in all, the first included. */
  maximumAttempts: number;
  maximumIntervalMs: number;
  /** A random span up to this is added to each wait. */
  jitterMs: number;
}

/** Pages of one priority: as they were found, or in an order of chance that mixes their sources. */
export type Order = 'first-come' | 'shuffled';

/** After the seeds nothing is admitted before so many pages are pending, or that time has passed, or nothing more can come. */
export interface Warmup {
  /** 0: no warm-up. */
  pending: number;
  atMostMs: number;
}

/** The operator's word for one domain and those below it: what is set here stands for the crawl's own. */
export interface DomainRule {
  delay?: DelayRange;
  concurrency?: number;
  /** null: off. */
  targetConcurrency?: number | null;
}

/** A kind of page that is known by its URL. */
export interface UrlType {
  name: string;
  /** With `*` for anything; see src/urls/pattern.ts. */
  pattern: string;
  /** 1 goes first. */
  priority: number;
  /** For pages that bring none along; null: none. */
  keyword: string | null;
}

/** A URL that a crawl begins with. */
export interface Seed {
  /** Normalised. */
  url: string;
  /** Carried to every page that comes from this one. */
  keyword: string | null;
  /** null: that of its type. */
  priority: number | null;
}

export interface FetchLimits {
  connectTimeoutMs: number;
  /** From the request's start to its response headers. */
  headersTimeoutMs: number;
  /** From the request's start to the last byte of the body. */
  totalTimeoutMs: number;
  /** Of the decoded body. */
  maxBodyBytes: number;
}

/** What may be changed in a URL beyond the URL standard; src/urls/rules.ts says how. */
export interface UrlRules {
  /** Longer ones are not crawled. */
  maxLength: number;
  /** %7E becomes ~. */
  decodeUnreserved: boolean;
  sortQuery: boolean;
  /** The parameters of src/urls/tracking-parameters.ts. */
  stripTracking: boolean;
  stripSessionIds: boolean;
  /** Further parameters to take away; in lower case. */
  stripParameters: string[];
}

/** Where a site seems to have no end; null: no limit. */
export interface TrapLimits {
  /** Segments of a path. */
  maxPathDepth: number | null;
  /** How often a run of segments may stand in a row: 3 allows /a/b/a/b/a/b. */
  maxRepeats: number | null;
  /** Pages of one directory, of one path with the same names of parameters, of one calendar. */
  maxPerDirectory: number | null;
  maxPerQuery: number | null;
  maxPerCalendar: number | null;
}

export interface CrawlSettings {
  /** What it began with; the fields below are what holds. */
  preset: string;
  scope: Scope;
  /** Patterns of URLs: one must match, if there are any, and of `exclude` none may. */
  include: string[];
  exclude: string[];
  /** null: no limit. */
  maxPages: number | null;
  /** Pages of one domain that may enter the crawl. */
  maxPagesPerDomain: number | null;
  maxDepth: number | null;
  /** In a row. */
  maxRedirects: number;
  /** Whether pages are also found by the sitemaps of the seeds' hosts. */
  sitemaps: boolean;
  delay: DelayRange;
  order: Order;
  warmup: Warmup;
  concurrency: number;
  /** null: off. */
  targetConcurrency: number | null;
  /** By domain; a rule holds for the domains below its own too, the most specific one alone. */
  domains: Record<string, DomainRule>;
  /** The first that fits decides. */
  urlTypes: UrlType[];
  retry: RetrySettings;
  fetch: FetchLimits;
  /** Types such as application/pdf or image/*: stored without being parsed instead of rejected. */
  keepTypes: string[];
  /** Host name to address, as curl's --resolve: for tests and staging. */
  resolve: Record<string, string>;
  /** CIDRs that may be reached although they are loopback, private or reserved. */
  allowNetwork: string[];
  /** Pages of one domain with an open workflow that is not asleep. */
  window: number;
  /** Pages of one domain asleep in a workflow of their own; beyond it they wait in the table. */
  maxWaiting: number;
  /** A wait longer than this gives up its place in the window. */
  longWaitMs: number;
  /** How often the Crawl workflow looks for stalled pages and the end. */
  sweepIntervalMs: number;
  /** Links kept of one page; the rest are only counted. */
  maxLinksPerPage: number;
  urls: UrlRules;
  traps: TrapLimits;
}
