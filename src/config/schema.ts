/** The settings of an installation: their schema, their defaults, and the configuration they become. */
import { resolve } from 'node:path';
import { z } from 'zod';
import type { ContentLocation } from '../core/content-location.ts';
import { packageVersion } from '../core/package-root.ts';
import type { Asking } from '../core/page-input.ts';
import type { CrawlSettings } from '../core/settings.ts';
import type { ThrottleConfig } from '../core/slot-protocol.ts';
import type { AddressLimits } from '../http/address.ts';
import { PRODUCT_TOKEN } from '../http/user-agent.ts';
import type { FreshnessBounds } from '../robots/index.ts';
import type { TemporalAccess, TemporalProfile } from '../temporal/access.ts';
import { toContentLocation } from './content-store.ts';
import { CRAWL_DEFAULTS, crawlShape, toCrawlSettings } from './crawl-schema.ts';
import type { Tuning } from './tuning.ts';
import {
  buildIdOrNone,
  cidrs,
  count,
  duration,
  headerText,
  hostNames,
  httpUrlOrNone,
  type ListenAddress,
  listenAddressOrNone,
  mailAddressOrNone,
  oneOf,
  positiveDuration,
  postgresUrlOrNone,
  serverAddressOrNone,
  socketAddressOrNone,
  text,
  textOrNone,
  tokenOrNone,
} from './values.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

/** `auto`: text if standard error is a terminal, otherwise JSON. */
export const LOG_FORMATS = ['auto', 'json', 'text'] as const;
export type LogFormat = (typeof LOG_FORMATS)[number];

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
  /** How to reach `temporalAddress`; null if that is null. */
  temporalAccess: TemporalAccess | null;
  temporalBinary: string | null;
  /** The Web UI of `temporalAddress`; null: not known. */
  temporalUiUrl: string | null;
  /** null: the embedded Postgres. */
  databaseUrl: string | null;
  taskQueue: string;
  /** Which build of Amble its workers are, for Temporal's worker versioning; null: not versioned. */
  buildId: string | null;
  politenessKey: 'host' | 'site';
  contact: string | null;
  /** The From header; null: not sent. */
  from: string | null;
  /** The whole User-Agent header, contact included. */
  userAgent: string;
  /** Absolute. */
  contentStore: ContentLocation;
  logLevel: LogLevel;
  /** Of the dashboard and the API; null: they are not served. */
  listen: ListenAddress | null;
  /** Where people reach the dashboard, without a final slash; null: nowhere. */
  dashboardUrl: string | null;
  /** Opens the server to others than this machine; null: it stays closed to them. */
  serverToken: string | null;
  /** Names by which others reach it. */
  serverHosts: string[];
  logFormat: LogFormat;
  /** Where others reach the server; null: not known. */
  /** The page for owners of sites, as others reach it. null: not known. */
  publicBotUrl: string | null;
  /** Fetches that one worker process runs at a time. */
  maxConcurrentFetches: number;
  /** A worker that receives SIGTERM has ended after this. */
  shutdownTimeoutMs: number;
  address: AddressLimits;
  /** `listen`: host and port. null: metrics are not served. */
  metrics: { listen: string | null };
  /** Where a worker says whether it is ready; null: nowhere. */
  health: { listen: ListenAddress | null };
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
  temporalAddress: serverAddressOrNone(),
  temporalNamespace: text('the name of a namespace'),
  temporalApiKeyFile: textOrNone('the path of a file'),
  temporalBinary: textOrNone('the path of a temporal program'),
  databaseUrl: postgresUrlOrNone(),
  taskQueue: text('the name of a task queue'),
  buildId: buildIdOrNone(),
  politenessKey: oneOf('host', 'site'),
  contact: httpUrlOrNone(),
  from: mailAddressOrNone(),
  userAgent: headerText(),
  contentStore: textOrNone('a directory or s3://bucket/prefix'),
  logLevel: oneOf(...LOG_LEVELS),
  listen: listenAddressOrNone(),
  dashboardUrl: httpUrlOrNone(),
  temporalUiUrl: httpUrlOrNone(),
  serverToken: tokenOrNone(),
  serverHosts: hostNames(),
  logFormat: oneOf(...LOG_FORMATS),
  publicUrl: httpUrlOrNone(),
  maxConcurrentFetches: count(1),
  shutdownTimeout: positiveDuration(),
  maxCrawlDelay: duration(),
  maxRetryAfter: duration(),
  maxOutage: positiveDuration(),
  address: z.strictObject({ gap: duration(), maxOpen: count(1), exempt: cidrs() }),
  metrics: z.strictObject({ listen: socketAddressOrNone() }),
  health: z.strictObject({ listen: listenAddressOrNone() }),
  ...crawlShape,
});

/** As people write them: the lowest layer of every configuration, and what docs/configuration.md lists. */
export const DEFAULTS = {
  home: '.amble',
  temporalAddress: 'none',
  temporalNamespace: 'default',
  temporalApiKeyFile: 'none',
  temporalBinary: 'none',
  databaseUrl: 'none',
  taskQueue: 'amble',
  buildId: 'none',
  politenessKey: 'host',
  contact: 'none',
  from: 'none',
  userAgent: `${PRODUCT_TOKEN}/${packageVersion}`,
  contentStore: 'none',
  logLevel: 'info',
  listen: 'localhost:8080',
  dashboardUrl: 'http://localhost:8080',
  temporalUiUrl: 'none',
  serverToken: 'none',
  serverHosts: [],
  logFormat: 'auto',
  publicUrl: 'none',
  maxConcurrentFetches: 200,
  shutdownTimeout: '25s',
  maxCrawlDelay: '5m',
  maxRetryAfter: '1d',
  maxOutage: '1d',
  // A shared host or a CDN serves many sites from one address, so this is faster than any single site is crawled. The
  // machine itself is exempt.
  address: { gap: '250ms', maxOpen: 8, exempt: ['127.0.0.0/8', '::1/128'] },
  metrics: { listen: 'none' },
  health: { listen: 'none' },
  ...CRAWL_DEFAULTS,
};

export interface ConfigContext {
  /** What the settings were parsed from. */
  merged: Record<string, unknown>;
  tuning: Tuning;
  cwd: string;
  profile: TemporalProfile;
  env: Readonly<Record<string, string | undefined>>;
}

export function toConfig(
  written: z.output<typeof configSchema>,
  { merged, tuning, cwd, profile, env }: ConfigContext,
): AmbleConfig {
  const { maxOutage, publicUrl } = written;
  // Whoever looks at the log of a site finds the page about this crawler.
  const publicBotUrl = publicUrl && new URL('bot', withSlash(publicUrl)).href;
  const contact = written.contact ?? publicBotUrl;
  const { minFreshMs, maxFreshMs, retryMs, maxRetryMs } = tuning.robots;
  const home = resolve(cwd, written.home);
  const { temporalAddress, temporalApiKeyFile: keyFile } = written;
  return {
    home,
    temporalAddress,
    temporalNamespace: written.temporalNamespace,
    temporalAccess:
      temporalAddress === null ? null : profile.access(keyFile === null ? null : resolve(cwd, keyFile)),
    temporalBinary: written.temporalBinary === null ? null : resolve(cwd, written.temporalBinary),
    databaseUrl: written.databaseUrl,
    taskQueue: written.taskQueue,
    buildId: written.buildId,
    politenessKey: written.politenessKey,
    contact,
    from: written.from,
    userAgent: withContact(written.userAgent, contact),
    contentStore: toContentLocation(written.contentStore, { home, cwd, env }),
    logLevel: written.logLevel,
    listen: written.listen,
    temporalUiUrl: written.temporalUiUrl,
    dashboardUrl: written.dashboardUrl?.replace(/\/+$/, '') ?? null,
    serverToken: written.serverToken,
    serverHosts: written.serverHosts,
    logFormat: written.logFormat,
    publicBotUrl,
    maxConcurrentFetches: written.maxConcurrentFetches,
    shutdownTimeoutMs: written.shutdownTimeout,
    address: {
      gapMs: written.address.gap,
      maxOpen: written.address.maxOpen,
      exempt: written.address.exempt,
    },
    metrics: written.metrics,
    health: written.health,
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

function withSlash(url: string): string {
  return url.endsWith('/') ? url : `${url}/`;
}

/** The owner of a site must be able to find a contact, whatever name the User-Agent has. */
function withContact(userAgent: string, contact: string | null): string {
  return contact === null || userAgent.includes(contact) ? userAgent : `${userAgent} (+${contact})`;
}
