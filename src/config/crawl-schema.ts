/**
 * The settings of one crawl as people write them. A key is named as its field in CrawlSettings without the unit
 * (`longWait: "1m"` becomes `longWaitMs: 60000`), the same in the config file, the environment and a crawl's input.
 */
import { z } from 'zod';
import { formatDelayRange, serializeDuration } from '../core/duration.ts';
import type { CrawlSettings } from '../core/settings.ts';
import { formatBytes } from './bytes.ts';
import { domainRules, urlTypes, writeDomainRules, writeUrlTypes } from './policies.ts';
import { PRESET_NAMES, PRESETS } from './presets.ts';
import {
  bytes,
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
  resolves,
  span,
  yesOrNo,
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
  sitemaps: yesOrNo(),
  delay: delayRange(),
  order: oneOf('first-come', 'shuffled'),
  warmup: z.strictObject({ pending: count(0), atMost: duration() }),
  concurrency: count(1),
  targetConcurrency: countOrNone(1),
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
    connectTimeout: span(),
    headersTimeout: span(),
    totalTimeout: span(),
    maxHeaders: bytes(),
    maxBody: bytes(),
  }),
  keepTypes: mediaTypes(),
  resolve: resolves(),
  allowNetwork: cidrs(),
  window: count(1),
  maxWaiting: count(0),
  longWait: duration(),
  sweepInterval: span(),
  maxLinksPerPage: count(0),
  maxSitemap: bytes(),
  urls: z.strictObject({
    maxLength: count(1),
    decodeUnreserved: yesOrNo(),
    sortQuery: yesOrNo(),
    stripTracking: yesOrNo(),
    stripSessionIds: yesOrNo(),
    stripParameters: parameterNames(),
  }),
  traps: z.strictObject({
    maxPathDepth: countOrNone(1),
    maxRepeats: countOrNone(1),
    maxPerDirectory: countOrNone(1),
    maxPerQuery: countOrNone(1),
    maxPerCalendar: countOrNone(1),
  }),
};

type WrittenCrawl = z.output<z.ZodObject<typeof crawlShape>>;

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
  fetch: {
    connectTimeout: '10s',
    headersTimeout: '20s',
    totalTimeout: '1m',
    maxHeaders: '64KiB',
    maxBody: '10MiB',
  },
  keepTypes: [],
  resolve: [],
  allowNetwork: [],
  longWait: '1m',
  sweepInterval: '10s',
  maxLinksPerPage: 10_000,
  maxSitemap: '50MiB',
  urls: {
    maxLength: 2_000,
    decodeUnreserved: true,
    sortQuery: true,
    stripTracking: true,
    stripSessionIds: true,
    stripParameters: [],
  },
  traps: {
    maxPathDepth: 20,
    maxRepeats: 3,
    maxPerDirectory: 10_000,
    maxPerQuery: 5_000,
    maxPerCalendar: 500,
  },
};

export function toCrawlSettings({
  warmup,
  retry,
  fetch,
  longWait,
  sweepInterval,
  ...rest
}: WrittenCrawl): CrawlSettings {
  return {
    preset: rest.preset,
    scope: rest.scope,
    include: rest.include,
    exclude: rest.exclude,
    maxPages: rest.maxPages,
    maxPagesPerDomain: rest.maxPagesPerDomain,
    maxDepth: rest.maxDepth,
    maxRedirects: rest.maxRedirects,
    sitemaps: rest.sitemaps,
    delay: rest.delay,
    order: rest.order,
    warmup: { pending: warmup.pending, atMostMs: warmup.atMost },
    concurrency: rest.concurrency,
    targetConcurrency: rest.targetConcurrency,
    domains: rest.domains,
    urlTypes: rest.urlTypes,
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
      maxHeaderBytes: fetch.maxHeaders,
      maxBodyBytes: fetch.maxBody,
    },
    keepTypes: rest.keepTypes,
    resolve: rest.resolve,
    allowNetwork: rest.allowNetwork,
    window: rest.window,
    maxWaiting: rest.maxWaiting,
    longWaitMs: longWait,
    sweepIntervalMs: sweepInterval,
    maxLinksPerPage: rest.maxLinksPerPage,
    maxSitemapBytes: rest.maxSitemap,
    urls: rest.urls,
    traps: rest.traps,
  };
}

/** The inverse: settings as a person would have written them. Reading it back gives the same settings. */
export function writeCrawlSettings({
  warmup,
  retry,
  fetch,
  longWaitMs,
  sweepIntervalMs,
  maxSitemapBytes,
  ...rest
}: CrawlSettings) {
  return {
    ...rest,
    delay: formatDelayRange(rest.delay),
    warmup: { pending: warmup.pending, atMost: serializeDuration(warmup.atMostMs) },
    domains: writeDomainRules(rest.domains),
    urlTypes: writeUrlTypes(rest.urlTypes),
    retry: {
      initialInterval: serializeDuration(retry.initialIntervalMs),
      backoffCoefficient: retry.backoffCoefficient,
      maximumAttempts: retry.maximumAttempts,
      maximumInterval: serializeDuration(retry.maximumIntervalMs),
      jitter: serializeDuration(retry.jitterMs),
    },
    fetch: {
      connectTimeout: serializeDuration(fetch.connectTimeoutMs),
      headersTimeout: serializeDuration(fetch.headersTimeoutMs),
      totalTimeout: serializeDuration(fetch.totalTimeoutMs),
      maxHeaders: formatBytes(fetch.maxHeaderBytes),
      maxBody: formatBytes(fetch.maxBodyBytes),
    },
    // A list, not an object: a layer above then replaces it as it replaces every other value.
    resolve: Object.entries(rest.resolve).map(([name, address]) => `${name}:${address}`),
    longWait: serializeDuration(longWaitMs),
    sweepInterval: serializeDuration(sweepIntervalMs),
    maxSitemap: formatBytes(maxSitemapBytes),
  };
}
