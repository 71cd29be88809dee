/** The settings of an installation: their schema, their defaults, and the configuration they become. */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { packageVersion } from '../core/package-root.ts';
import type { Asking } from '../core/page-input.ts';
import type { CrawlSettings } from '../core/settings.ts';
import type { ThrottleConfig } from '../core/slot-protocol.ts';
import type { AddressLimits } from '../http/address.ts';
import { PRODUCT_TOKEN } from '../http/user-agent.ts';
import type { FreshnessBounds } from '../robots/index.ts';
import { CRAWL_DEFAULTS, crawlShape, toCrawlSettings } from './crawl-schema.ts';
import { valueAt } from './layers.ts';
import type { Tuning } from './tuning.ts';
import {
  cidrs,
  count,
  duration,
  headerText,
  httpUrlOrNone,
  mailAddressOrNone,
  oneOf,
  positiveDuration,
  postgresUrlOrNone,
  text,
  textOrNone,
} from './values.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface RobotsConfig {
  /** How long rules are used before they are fetched again; Cache-Control chooses within these bounds. */
  fresh: FreshnessBounds;
  /** Wait after a robots.txt that could not be read; doubles with each failure ... */
  retryMs: number;
  /** ... up to this. */
  maxRetryMs: number;
  /** Unreadable for this long, the site's pages are given up. */
  outageGiveUpMs: number;
}

export interface AskingConfig extends Asking {
  /** A page that asked this long ago and has not been seen since is looked up by the sweep. */
  quietMs: number;
}

/** How this installation works. What a single crawl may change is in `crawl`. */
export interface AmbleConfig {
  /** Where the embedded engines keep their data; absolute. */
  home: string;
  /** null: look for a server, else start one. */
  temporalAddress: string | null;
  temporalNamespace: string;
  temporalBinary: string | null;
  /** null: the embedded Postgres. */
  databaseUrl: string | null;
  taskQueue: string;
  politenessKey: 'host' | 'site';
  contact: string | null;
  /** The From header; null: not sent. */
  from: string | null;
  /** The whole User-Agent header, contact included. */
  userAgent: string;
  /** Absolute. */
  contentDir: string;
  logLevel: LogLevel;
  /** Fetches that one worker process runs at a time. */
  maxConcurrentFetches: number;
  /** A worker that receives SIGTERM has ended after this. */
  shutdownTimeoutMs: number;
  address: AddressLimits;
  throttle: ThrottleConfig;
  asking: AskingConfig;
  robots: RobotsConfig;
  /** A fetch without a heartbeat for this long is lost with its worker. */
  heartbeatMs: number;
  /** A document that takes longer to parse is given up. */
  parseTimeoutMs: number;
  /** For the bodies of all open fetches of a process. */
  maxBodyMemoryBytes: number;
  /** Settings of crawls whose input does not set them. */
  crawl: CrawlSettings;
  /** The same as people wrote them: what a crawl's input is read on top of. */
  crawlDefaults: Record<string, unknown>;
  crawlTuning: Tuning['crawl'];
}

export const configSchema = z.strictObject({
  home: text('a directory'),
  temporalAddress: textOrNone('an address such as "localhost:7233"'),
  temporalNamespace: text('the name of a namespace'),
  temporalBinary: textOrNone('the path of a temporal program'),
  databaseUrl: postgresUrlOrNone(),
  taskQueue: text('the name of a task queue'),
  politenessKey: oneOf('host', 'site'),
  contact: httpUrlOrNone(),
  from: mailAddressOrNone(),
  userAgent: headerText(),
  contentDir: textOrNone('a directory'),
  logLevel: oneOf(...LOG_LEVELS),
  maxConcurrentFetches: count(1),
  shutdownTimeout: positiveDuration(),
  maxCrawlDelay: duration(),
  maxRetryAfter: duration(),
  maxOutage: positiveDuration(),
  address: z.strictObject({ gap: duration(), maxOpen: count(1), exempt: cidrs() }),
  ...crawlShape,
});

/** As people write them: the lowest layer of every configuration, and what docs/configuration.md lists. */
export const DEFAULTS = {
  home: '.amble',
  temporalAddress: 'none',
  temporalNamespace: 'default',
  temporalBinary: 'none',
  databaseUrl: 'none',
  taskQueue: 'amble',
  politenessKey: 'host',
  contact: 'none',
  from: 'none',
  userAgent: `${PRODUCT_TOKEN}/${packageVersion}`,
  contentDir: 'none',
  logLevel: 'info',
  maxConcurrentFetches: 200,
  shutdownTimeout: '25s',
  maxCrawlDelay: '5m',
  maxRetryAfter: '1d',
  maxOutage: '1d',
  // A shared host or a CDN serves many sites from one address, so this is faster than any single site is crawled. The
  // machine itself is exempt.
  address: { gap: '250ms', maxOpen: 8, exempt: ['127.0.0.0/8', '::1/128'] },
  ...CRAWL_DEFAULTS,
};

export interface ConfigKey {
  /** `['retry', 'jitter']`. */
  path: readonly string[];
  /** `retry.jitter`. */
  name: string;
  /** `AMBLE_RETRY_JITTER`. */
  env: string;
  /** As it would be written in the config file. */
  default: unknown;
}

/** Names that Temporal's and Postgres' own tools already use. */
const FOREIGN_ENV = new Map([
  ['temporalAddress', 'TEMPORAL_ADDRESS'],
  ['temporalNamespace', 'TEMPORAL_NAMESPACE'],
  ['databaseUrl', 'DATABASE_URL'],
]);

/** Every setting: the environment is searched for these, and the documentation is checked against them. */
export const CONFIG_KEYS: readonly ConfigKey[] = leavesOf(configSchema, []).map((path) => {
  const name = path.join('.');
  return { path, name, env: FOREIGN_ENV.get(name) ?? envName(path), default: valueAt(DEFAULTS, path) };
});

function leavesOf(schema: z.ZodObject, above: readonly string[]): string[][] {
  return Object.entries(schema.shape).flatMap(([key, value]) =>
    value instanceof z.ZodObject ? leavesOf(value, [...above, key]) : [[...above, key]],
  );
}

function envName(path: readonly string[]): string {
  const words = path.map((part) => part.replace(/[A-Z]/g, '_$&').toUpperCase());
  return `AMBLE_${words.join('_')}`;
}

/** `merged`: what `written` was parsed from. */
export function toConfig(
  written: z.output<typeof configSchema>,
  { merged, tuning, cwd }: { merged: Record<string, unknown>; tuning: Tuning; cwd: string },
): AmbleConfig {
  const { contact, maxOutage } = written;
  const { minFreshMs, maxFreshMs, retryMs, maxRetryMs } = tuning.robots;
  const home = resolve(cwd, written.home);
  return {
    home,
    temporalAddress: written.temporalAddress,
    temporalNamespace: written.temporalNamespace,
    temporalBinary: written.temporalBinary === null ? null : resolve(cwd, written.temporalBinary),
    databaseUrl: written.databaseUrl,
    taskQueue: written.taskQueue,
    politenessKey: written.politenessKey,
    contact,
    from: written.from,
    userAgent: withContact(written.userAgent, contact),
    contentDir: written.contentDir === null ? join(home, 'content') : resolve(cwd, written.contentDir),
    logLevel: written.logLevel,
    maxConcurrentFetches: written.maxConcurrentFetches,
    shutdownTimeoutMs: written.shutdownTimeout,
    address: {
      gapMs: written.address.gap,
      maxOpen: written.address.maxOpen,
      exempt: written.address.exempt,
    },
    throttle: {
      ...tuning.throttle,
      maxCrawlDelayMs: written.maxCrawlDelay,
      maxRetryAfterMs: written.maxRetryAfter,
      outageGiveUpMs: maxOutage,
    },
    asking: tuning.asking,
    robots: {
      fresh: { minMs: minFreshMs, maxMs: maxFreshMs },
      retryMs,
      maxRetryMs,
      outageGiveUpMs: maxOutage,
    },
    heartbeatMs: tuning.heartbeatMs,
    parseTimeoutMs: tuning.parseTimeoutMs,
    maxBodyMemoryBytes: tuning.maxBodyMemoryBytes,
    crawl: toCrawlSettings(written, tuning.crawl),
    crawlDefaults: Object.fromEntries(Object.entries(merged).filter(([key]) => key in crawlShape)),
    crawlTuning: tuning.crawl,
  };
}

/** The owner of a site must be able to find a contact, whatever name the User-Agent has. */
function withContact(userAgent: string, contact: string | null): string {
  return contact === null || userAgent.includes(contact) ? userAgent : `${userAgent} (+${contact})`;
}
