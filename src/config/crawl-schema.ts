/**
 * The settings of one crawl as people write them. A key is named as its field in CrawlSettings without the unit
 * (`delay: "10s"`, `fetch.totalTimeout: "1m"`), the same in the config file, the environment and a crawl's input.
 */
import { z } from 'zod';
import type { CrawlSettings, DomainRule } from '../core/settings.ts';
import { MAX_URL_LENGTH } from '../urls/index.ts';
import { domainRules, urlTypes } from './policies.ts';
import { PRESET_NAMES, PRESETS } from './presets.ts';
import type { Tuning } from './tuning.ts';
import {
  boolean,
  cidrs,
  count,
  countOrNone,
  delayRange,
  duration,
  factor,
  mediaTypes,
  oneOf,
  parameterNames,
  patterns,
  positiveDuration,
  resolves,
  size,
} from './values.ts';

export const crawlShape = {
  preset: oneOf(...PRESET_NAMES),
  scope: oneOf('host', 'site', 'any'),
  include: patterns(),
  exclude: patterns(),
  maxPages: countOrNone(1),
  maxPagesPerDomain: countOrNone(1),
  maxDepth: countOrNone(0),
  maxRedirects: count(0),
  sitemaps: boolean(),
  delay: delayRange(),
  concurrency: count(1),
  targetConcurrency: countOrNone(1),
  order: oneOf('first-come', 'shuffled'),
  domains: domainRules(),
  urlTypes: urlTypes(),
  retry: z.strictObject({
    initialInterval: duration(),
    backoffCoefficient: factor(),
    maximumAttempts: count(1),
    maximumInterval: duration(),
    jitter: duration(),
  }),
  fetch: z.strictObject({
    connectTimeout: positiveDuration(),
    headersTimeout: positiveDuration(),
    totalTimeout: positiveDuration(),
    maxBodySize: size(),
  }),
  keepTypes: mediaTypes(),
  resolve: resolves(),
  allowNetwork: cidrs(),
  cleanUrls: boolean(),
  stripParameters: parameterNames(),
  traps: z.strictObject({
    maxPerDirectory: countOrNone(1),
    maxPerQuery: countOrNone(1),
    maxPerCalendar: countOrNone(1),
    maxHostsPerSite: countOrNone(0),
    maxPortsPerHost: countOrNone(0),
  }),
};

export const CRAWL_DEFAULTS = {
  preset: 'smallweb',
  ...PRESETS.smallweb,
  include: [],
  exclude: [],
  maxPages: 'none',
  maxPagesPerDomain: 'none',
  maxDepth: 'none',
  maxRedirects: 5,
  sitemaps: false,
  domains: 'none',
  fetch: { connectTimeout: '10s', headersTimeout: '20s', totalTimeout: '1m', maxBodySize: '10MiB' },
  keepTypes: [],
  resolve: [],
  allowNetwork: [],
  cleanUrls: true,
  stripParameters: [],
  traps: {
    maxPerDirectory: 10_000,
    maxPerQuery: 5_000,
    maxPerCalendar: 500,
    maxHostsPerSite: 1_000,
    maxPortsPerHost: 4,
  },
};

/** Segments of a path, and how often a run of them may repeat. More is the mark of a relative link that nests itself. */
const PATH_TRAPS = { maxPathDepth: 20, maxRepeats: 3 };

/** A shuffled crawl collects `pending` pages before it fetches any of them, but waits no longer than `atMostMs`. */
const WARMUP = { pending: 15, atMostMs: 10 * 60_000 };
const NO_WARMUP = { ...WARMUP, pending: 0 };

export function toCrawlSettings(
  written: z.output<z.ZodObject<typeof crawlShape>>,
  { window, ...tuning }: Tuning['crawl'],
): CrawlSettings {
  const { retry, fetch, cleanUrls } = written;
  // Key by key: what else `written` holds, such as the database's URL, is not for the crawl's record.
  return {
    preset: written.preset,
    scope: written.scope,
    include: written.include,
    exclude: written.exclude,
    maxPages: written.maxPages,
    maxPagesPerDomain: written.maxPagesPerDomain,
    maxDepth: written.maxDepth,
    maxRedirects: written.maxRedirects,
    sitemaps: written.sitemaps,
    delay: written.delay,
    concurrency: written.concurrency,
    targetConcurrency: written.targetConcurrency,
    order: written.order,
    domains: written.domains,
    urlTypes: written.urlTypes,
    keepTypes: written.keepTypes,
    resolve: written.resolve,
    allowNetwork: written.allowNetwork,
    ...tuning,
    window: window ?? windowFor(written.concurrency, written.domains),
    warmup: written.order === 'shuffled' ? WARMUP : NO_WARMUP,
    retry: {
      initialIntervalMs: retry.initialInterval,
      backoffCoefficient: retry.backoffCoefficient,
      maximumAttempts: retry.maximumAttempts,
      maximumIntervalMs: retry.maximumInterval,
      jitterMs: retry.jitter,
    },
    fetch: {
      connectTimeoutMs: fetch.connectTimeout,
      headersTimeoutMs: fetch.headersTimeout,
      totalTimeoutMs: fetch.totalTimeout,
      maxBodyBytes: fetch.maxBodySize,
    },
    urls: {
      maxLength: MAX_URL_LENGTH,
      decodeUnreserved: cleanUrls,
      sortQuery: cleanUrls,
      stripTracking: cleanUrls,
      stripSessionIds: cleanUrls,
      stripParameters: written.stripParameters,
    },
    traps: { ...PATH_TRAPS, ...written.traps },
  };
}

/** Twice as many as may be fetched at once, so that the next pages are queued when these are done. */
function windowFor(concurrency: number, rules: Record<string, DomainRule>): number {
  const highest = Math.max(concurrency, ...Object.values(rules).map((rule) => rule.concurrency ?? 1));
  return 2 * highest + 2;
}
