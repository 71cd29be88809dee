/**
 * How one crawl behaves, with every default filled in, as `crawls.settings` stores it. Types only, so that workflow code may
 * import them. src/config has the schema that parses what people write.
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
  /** A random time up to this is added to each wait. */
  jitterMs: number;
}

/** Order of the pages of one priority: as they were found, or a random order that mixes their sources. */
export type Order = 'first-come' | 'shuffled';

/** After the seeds, nothing is admitted until `pending` pages are found, `atMostMs` has passed, or no more can be found. */
export interface Warmup {
  /** 0: no warm-up. */
  pending: number;
  atMostMs: number;
}

/** Replaces the crawl's own values for one domain and the domains below it. */
export interface DomainRule {
  delay?: DelayRange;
  concurrency?: number;
  /** null: off. */
  targetConcurrency?: number | null;
}

/** A kind of page, recognised by its URL. */
export interface UrlType {
  name: string;
  /** With `*` for any characters; see src/urls/pattern.ts. */
  pattern: string;
  /** 1 is fetched first. */
  priority: number;
  /** For pages that carry no keyword from their seed; null: none. */
  keyword: string | null;
}

/** A URL that a crawl begins with. */
export interface Seed {
  /** Normalised. */
  url: string;
  /** Carried to every page found from this one. */
  keyword: string | null;
  /** null: the priority of its type. */
  priority: number | null;
}

export interface FetchLimits {
  /** Name lookup and TLS included. */
  connectTimeoutMs: number;
  /** From the start of the request to the response headers. */
  headersTimeoutMs: number;
  /** From the start of the request to the last byte of the body. */
  totalTimeoutMs: number;
  /** Of the decoded body. */
  maxBodyBytes: number;
}

/** What is changed in a URL beyond the URL standard; see src/urls/rules.ts. */
export interface UrlRules {
  /** Longer URLs are not crawled. */
  maxLength: number;
  /** %7E becomes ~. */
  decodeUnreserved: boolean;
  sortQuery: boolean;
  /** Removes the parameters of src/urls/tracking-parameters.ts. */
  stripTracking: boolean;
  stripSessionIds: boolean;
  /** Further parameters to remove, in lower case. */
  stripParameters: string[];
}

/** Limits for sites that seem endless; null: no limit. */
export interface TrapLimits {
  /** Segments of a path. */
  maxPathDepth: number | null;
  /** How often a run of segments may repeat: 3 allows /a/b/a/b/a/b. */
  maxRepeats: number | null;
  /** Pages directly in one directory. */
  maxPerDirectory: number | null;
  /** Pages of one path with the same parameter names. */
  maxPerQuery: number | null;
  /** Pages that differ only in a date. */
  maxPerCalendar: number | null;
  /** Hosts of one registrable domain, beside those of the seeds. */
  maxHostsPerSite: number | null;
  /** Ports of one host other than 80 for http and 443 for https, beside those of the seeds. */
  maxPortsPerHost: number | null;
}

export interface CrawlSettings {
  /** The preset it was started with. The fields below are what counts. */
  preset: string;
  scope: Scope;
  /** URL patterns. If there are any, one must match. */
  include: string[];
  /** URL patterns, none of which may match. */
  exclude: string[];
  /** null: no limit. */
  maxPages: number | null;
  /** Pages of one domain that may enter the crawl; null: no limit. */
  maxPagesPerDomain: number | null;
  /** Links away from a seed; null: no limit. */
  maxDepth: number | null;
  /** In a row. */
  maxRedirects: number;
  /** Whether the sitemaps of the seeds' hosts are read. */
  sitemaps: boolean;
  delay: DelayRange;
  concurrency: number;
  /** null: off. */
  targetConcurrency: number | null;
  order: Order;
  /** By domain. A rule also applies to the domains below its own; of several, only the most specific. */
  domains: Record<string, DomainRule>;
  /** The first that matches counts. */
  urlTypes: UrlType[];
  retry: RetrySettings;
  fetch: FetchLimits;
  /** Media types such as application/pdf or image/*, stored without parsing. */
  keepTypes: string[];
  /** Host name to address, as curl's --resolve: for tests and staging. */
  resolve: Record<string, string>;
  /** CIDRs of loopback, private or reserved networks that may be crawled. */
  allowNetwork: string[];
  urls: UrlRules;
  traps: TrapLimits;

  // What follows are not settings: derived from those above, or constants of src/config/tuning.ts.

  warmup: Warmup;
  /** Pages of one domain that are open as workflows and do not wait for a retry. */
  window: number;
  /** Pages of one domain that wait for a retry as workflows; further ones wait in the table. */
  maxWaiting: number;
  /** A longer wait gives up its place in the window. */
  longWaitMs: number;
  sweepIntervalMs: number;
  /** Links kept of one page; the rest are only counted. */
  maxLinksPerPage: number;
}
