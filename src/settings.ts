/**
 * How one crawl behaves, with every default filled in: what `crawls.settings` keeps. Types only, so that workflow code
 * may import it; the schema that makes such a value out of what people type is in src/config.
 */
import type { DelayRange } from '../workflows/throttle/types.ts';

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

export interface FetchLimits {
  connectTimeoutMs: number;
  /** From the request's start to its response headers. */
  headersTimeoutMs: number;
  /** From the request's start to the last byte of the body. */
  totalTimeoutMs: number;
  /** Of the decoded body. */
  maxBodyBytes: number;
}

export interface CrawlSettings {
  scope: Scope;
  /** null: no limit. */
  maxPages: number | null;
  maxDepth: number | null;
  delay: DelayRange;
  concurrency: number;
  retry: RetrySettings;
  fetch: FetchLimits;
  /** Host name to address, as curl's --resolve: for tests and staging. */
  resolve: Record<string, string>;
  /** CIDRs that may be reached although they are loopback, private or reserved. */
  allowNetworks: string[];
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
}
