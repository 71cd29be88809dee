/**
 * Intervals and bounds that operators have no reason to change: constants, each with its reason. They are gathered
 * here because tests need shorter ones, from code (`loadConfig({ tuning })`) or, for the real program, from
 * AMBLE_TEST_TUNING. They are not settings: names and values may change with every version.
 */
import { z } from 'zod';
import { BadInput } from '../core/errors.ts';

const ms = (value: number) => z.int().nonnegative().default(value);
const count = ms;

const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

const tuningSchema = z.strictObject({
  throttle: z
    .strictObject({
      /** A slot that was not used by then is lost: long enough for a busy worker, short enough not to hold up the plan. */
      startWindowMs: ms(MINUTE_MS),
      /**
       * Slots of one domain that are reserved ahead. Fewer, and pages of a large window would ask again and again; more, and
       * a new delay would find many pages that planned with the old one.
       */
      maxReserved: count(16),
      /** How far ahead: a site that recovers from an overload should not find its pages asleep for long. */
      horizonMs: ms(MINUTE_MS),
      /** Pages that wait for a slot: bounds the throttle's state, which is carried through continue-as-new. */
      maxWaiting: count(1_000),
      /** When a domain resumes, its pages are signalled. This is for those that a throttle which was lost knew of. */
      pauseRetryMs: ms(5 * MINUTE_MS),
      /** Doubling after 5xx and 429 stops here: a site that has recovered is noticed within an hour. */
      maxBackoffMs: ms(HOUR_MS),
      /** How long an origin is left alone after a connection to it failed; doubles up to the maximum. */
      outageRetryMs: ms(10 * MINUTE_MS),
      maxOutageRetryMs: ms(HOUR_MS),
      /** A throttle without work ends after this. What it has learned is in the database. */
      idleTimeoutMs: ms(10 * MINUTE_MS),
    })
    .prefault({}),
  asking: z
    .strictObject({
      /** Before the next ask when slots went unused through no fault of the site: a loaded worker needs a moment. */
      pauseMs: ms(5 * SECOND_MS),
      /** A page that asked this long ago and has not been seen since is looked up by the sweep. */
      quietMs: ms(MINUTE_MS),
    })
    .prefault({}),
  robots: z
    .strictObject({
      /** `no-cache` and `max-age=0` count as an hour: a robots.txt before every page would double the load on its site. */
      minFreshMs: ms(HOUR_MS),
      /** RFC 9309, 2.4: a copy should not be used for more than 24 hours. */
      maxFreshMs: ms(DAY_MS),
      /** Wait after a robots.txt that could not be read; doubles up to the maximum. */
      retryMs: ms(MINUTE_MS),
      maxRetryMs: ms(HOUR_MS),
    })
    .prefault({}),
  /** A fetch that has not sent a heartbeat for this long is lost with its worker, and its page asks for a new slot. */
  heartbeatMs: ms(10 * SECOND_MS),
  /** A third of it is for building the tree, the rest for reading the document without one. The step itself ends after 2 min. */
  parseTimeoutMs: ms(30 * SECOND_MS),
  /**
   * Memory for the bodies of all open fetches of a process: 25 of the largest at the default `fetch.maxBodySize`, or 1.3 MB for
   * each of 200 fetches, ten times what a page has.
   */
  maxBodyMemoryBytes: count(256 * 1024 * 1024),
  crawl: z
    .strictObject({
      /**
       * Pages of one domain that are open as workflows. Null: twice the highest concurrency plus 2, so that the next pages are
       * queued when a fetch ends. More would only lengthen the queue and slow the start of a crawl.
       */
      window: z.int().positive().nullable().default(null),
      /** Pages of one domain that wait for a retry as workflows; further ones wait in the table, which costs nothing. */
      maxWaiting: count(100),
      /** A longer wait gives up its place in the window. */
      longWaitMs: ms(MINUTE_MS),
      /** How often a crawl looks for pages that are due or stalled, and for its end. Pages start each other meanwhile. */
      sweepIntervalMs: ms(10 * SECOND_MS),
      /** Links kept of one page; the rest are only counted. Bounds the transaction that records the page. */
      maxLinksPerPage: count(10_000),
    })
    .prefault({}),
});

export type Tuning = z.output<typeof tuningSchema>;

/** Any part of it; the rest keeps its value. */
export type TuningChanges = z.input<typeof tuningSchema>;

/** `source` names where the changes come from. */
export function parseTuning(changes: unknown, source: string): Tuning {
  const parsed = tuningSchema.safeParse(changes);
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  throw new BadInput(`${source} is not valid at "${issue?.path.join('.')}": ${issue?.message}.`);
}
