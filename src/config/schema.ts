/** Everything that can be set, in one schema: the installation's keys and, beside them, the defaults of its crawls. */
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { packageVersion } from '../core/package-root.ts';
import type { Asking } from '../core/page-input.ts';
import type { CrawlSettings } from '../core/settings.ts';
import type { ThrottleConfig } from '../core/slot-protocol.ts';
import { PRODUCT_TOKEN } from '../http/user-agent.ts';
import type { FreshnessBounds } from '../robots/index.ts';
import { CRAWL_DEFAULTS, crawlShape, toCrawlSettings } from './crawl-schema.ts';
import {
  count,
  duration,
  headerText,
  httpUrlOrNone,
  mailAddressOrNone,
  oneOf,
  postgresUrlOrNone,
  shortly,
  span,
  text,
  textOrNone,
} from './values.ts';

export const LOG_LEVELS = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export interface RobotsConfig {
  /** Rules younger than this are used without asking: the longest time, unless Cache-Control names a shorter one. */
  fresh: FreshnessBounds;
  /** Wait after a robots.txt that could not be read; doubles with each failure ... */
  holdMs: number;
  /** ... up to this. */
  maxHoldMs: number;
  /** Unreadable for this long, the site's pages are given up. */
  giveUpMs: number;
}

export interface AskingConfig extends Asking {
  /** A page in line is silent until its grant or its next ask; after this the sweep looks whether its workflow runs. */
  quietMs: number;
}

/** How this installation works; what one crawl wants is in `crawl`, as defaults for its own settings. */
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
  throttle: ThrottleConfig;
  asking: AskingConfig;
  robots: RobotsConfig;
  /** Fetches that one worker process runs side by side. */
  fetchSlots: number;
  /** A fetch that has given no sign of life for this long is lost with its worker. */
  heartbeatMs: number;
  /** A document that takes longer to parse is given up. */
  parseTimeoutMs: number;
  /** A worker that is told to stop is gone after this, in order. */
  stopWithinMs: number;
  crawl: CrawlSettings;
}

/** A pause or a longer delay holds from the next grant on: what has gone out ahead of its time is not called back. */
const MOST_LEAD_MS = 1_000;

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
  throttle: z.strictObject({
    lead: shortly(MOST_LEAD_MS),
    startWindow: duration(),
    maxStartWindow: duration(),
    parallelStartWindow: duration(),
    queueLimit: count(1),
    maxBackoff: duration(),
    maxRetryAfter: duration(),
    maxCrawlDelay: duration(),
    down: span(),
    maxDown: span(),
    giveUp: span(),
    idle: duration(),
  }),
  asking: z.strictObject({ slack: span(), maxSlack: span(), pause: duration(), quiet: span() }),
  robots: z.strictObject({
    minFresh: duration(),
    fresh: duration(),
    hold: duration(),
    maxHold: duration(),
    giveUp: duration(),
  }),
  parse: z.strictObject({ timeout: span() }),
  fetchSlots: count(1),
  heartbeat: span(),
  stopWithin: span(),
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
  throttle: {
    lead: '1s',
    startWindow: '15s',
    maxStartWindow: '5m',
    parallelStartWindow: '3s',
    queueLimit: 1_000,
    maxBackoff: '1h',
    maxRetryAfter: '1d',
    maxCrawlDelay: '5m',
    down: '10m',
    maxDown: '1h',
    giveUp: '1d',
    idle: '10m',
  },
  asking: { slack: '30s', maxSlack: '1h', pause: '5s', quiet: '1m' },
  robots: { minFresh: '1h', fresh: '1d', hold: '1m', maxHold: '1h', giveUp: '1d' },
  parse: { timeout: '30s' },
  fetchSlots: 200,
  heartbeat: '10s',
  stopWithin: '25s',
  ...CRAWL_DEFAULTS,
};

export function toConfig(written: z.output<typeof configSchema>, cwd: string): AmbleConfig {
  const { throttle, asking, robots, contact } = written;
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
    throttle: {
      grantLeadMs: throttle.lead,
      startWindowMs: throttle.startWindow,
      maxStartWindowMs: throttle.maxStartWindow,
      parallelStartWindowMs: throttle.parallelStartWindow,
      queueLimit: throttle.queueLimit,
      maxBackoffMs: throttle.maxBackoff,
      maxRetryAfterMs: throttle.maxRetryAfter,
      maxCrawlDelayMs: throttle.maxCrawlDelay,
      outageRetryMs: throttle.down,
      maxOutageRetryMs: throttle.maxDown,
      outageGiveUpMs: throttle.giveUp,
      idleTimeoutMs: throttle.idle,
    },
    asking: {
      slackMs: asking.slack,
      maxSlackMs: asking.maxSlack,
      pauseMs: asking.pause,
      quietMs: asking.quiet,
    },
    robots: {
      fresh: { minMs: robots.minFresh, maxMs: robots.fresh },
      holdMs: robots.hold,
      maxHoldMs: robots.maxHold,
      giveUpMs: robots.giveUp,
    },
    parseTimeoutMs: written.parse.timeout,
    fetchSlots: written.fetchSlots,
    heartbeatMs: written.heartbeat,
    stopWithinMs: written.stopWithin,
    crawl: toCrawlSettings(written),
  };
}

/** A site's owner must find out whom to write to, whatever the agent calls itself. */
function withContact(userAgent: string, contact: string | null): string {
  return contact === null || userAgent.includes(contact) ? userAgent : `${userAgent} (+${contact})`;
}
