/**
 * The settings of one crawl as people write them. A key is named as its field in CrawlSettings without the unit
 * (`longWait: "1m"` becomes `longWaitMs: 60000`), the same in the config file, the environment and a crawl's input.
 */
import { z } from 'zod';
import type { CrawlSettings } from '../settings.ts';
import { formatBytes } from './bytes.ts';
import { formatDelayRange, formatDuration } from './duration.ts';
import {
  bytes,
  cidrs,
  count,
  countOrNone,
  delayRange,
  duration,
  factor,
  oneOf,
  resolves,
  span,
} from './values.ts';

export const crawlShape = {
  scope: oneOf('host', 'site', 'any'),
  maxPages: countOrNone(1),
  maxDepth: countOrNone(0),
  delay: delayRange(),
  concurrency: count(1),
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
    maxBody: bytes(),
  }),
  resolve: resolves(),
  allowNetworks: cidrs(),
  window: count(1),
  maxWaiting: count(0),
  longWait: duration(),
  sweepInterval: span(),
  maxLinksPerPage: count(0),
};

type WrittenCrawl = z.output<z.ZodObject<typeof crawlShape>>;

export const CRAWL_DEFAULTS = {
  scope: 'site',
  maxPages: 'none',
  maxDepth: 'none',
  delay: '10s',
  concurrency: 1,
  retry: {
    initialInterval: '1h',
    backoffCoefficient: 1,
    maximumAttempts: 3,
    maximumInterval: '1d',
    jitter: '0s',
  },
  fetch: { connectTimeout: '10s', headersTimeout: '20s', totalTimeout: '1m', maxBody: '10MiB' },
  resolve: [],
  allowNetworks: [],
  window: 100,
  maxWaiting: 1_000,
  longWait: '1m',
  sweepInterval: '10s',
  maxLinksPerPage: 10_000,
};

export function toCrawlSettings({
  retry,
  fetch,
  longWait,
  sweepInterval,
  ...rest
}: WrittenCrawl): CrawlSettings {
  return {
    scope: rest.scope,
    maxPages: rest.maxPages,
    maxDepth: rest.maxDepth,
    delay: rest.delay,
    concurrency: rest.concurrency,
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
      maxBodyBytes: fetch.maxBody,
    },
    resolve: rest.resolve,
    allowNetworks: rest.allowNetworks,
    window: rest.window,
    maxWaiting: rest.maxWaiting,
    longWaitMs: longWait,
    sweepIntervalMs: sweepInterval,
    maxLinksPerPage: rest.maxLinksPerPage,
  };
}

/** The inverse: settings as a person would have written them. Reading it back gives the same settings. */
export function writeCrawlSettings({ retry, fetch, longWaitMs, sweepIntervalMs, ...rest }: CrawlSettings) {
  return {
    ...rest,
    delay: formatDelayRange(rest.delay),
    retry: {
      initialInterval: formatDuration(retry.initialIntervalMs),
      backoffCoefficient: retry.backoffCoefficient,
      maximumAttempts: retry.maximumAttempts,
      maximumInterval: formatDuration(retry.maximumIntervalMs),
      jitter: formatDuration(retry.jitterMs),
    },
    fetch: {
      connectTimeout: formatDuration(fetch.connectTimeoutMs),
      headersTimeout: formatDuration(fetch.headersTimeoutMs),
      totalTimeout: formatDuration(fetch.totalTimeoutMs),
      maxBody: formatBytes(fetch.maxBodyBytes),
    },
    // A list, not an object: a layer above then replaces it as it replaces every other value.
    resolve: Object.entries(rest.resolve).map(([name, address]) => `${name}:${address}`),
    longWait: formatDuration(longWaitMs),
    sweepInterval: formatDuration(sweepIntervalMs),
  };
}
