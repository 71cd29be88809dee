/**
 * What a worker knows about the throttle's clock, and whether a lease permits a request right now. A worker does not trust
 * its own clock. From the local times before and after a call that returned the server's time, it knows that time only as an
 * interval. `startBy` is compared with the late end and `notBefore` with the early end, so that an error of any clock
 * makes a gap longer, never shorter. A worker does know how long ago it sent a request itself. If that was the previous
 * request, it measures the gap with its monotonic clock alone.
 */
import type { Lease } from '../core/slot-protocol.ts';

/** Both local clocks, read together. The wall clock keeps running while the machine sleeps; the monotonic clock never jumps. */
export interface ClockReading {
  /** Date.now() */
  wallMs: number;
  /** performance.now() */
  monotonicMs: number;
}

export function readClocks(): ClockReading {
  return { wallMs: Date.now(), monotonicMs: performance.now() };
}

export type StartVerdict =
  /**
   * `startedAtEarly` is the server's time of the write, at most `errorMs` too early; it is recorded with the request.
   * `measured`: the gap was measured from the previous request.
   */
  | { verdict: 'go'; startedAtEarly: number; errorMs: number; measured: boolean }
  | { verdict: 'wait'; ms: number }
  | { verdict: 'too-late' }
  /** Take a new sample, or return the lease. */
  | { verdict: 'no-clock'; reason: 'never sampled' | 'sample too old' | 'suspended since' };

/** A request that this process sent. */
export interface LocalRequestStart {
  at: ClockReading;
  /** The server's time as recorded: the early end of the interval. */
  serverMs: number;
}

/** The server's time lies between these two. */
interface Interval {
  early: number;
  late: number;
}

interface Sample {
  serverNow: number;
  before: ClockReading;
  after: ClockReading;
}

/** Half a sample: the server's time was `serverTime` at or before the local time `receivedAt`. */
interface Observation {
  serverTime: number;
  receivedAt: ClockReading;
}

/** Older samples are useless: a clock may have been set, or the machine moved. */
const MAX_SAMPLE_AGE_MS = 5 * 60_000;
/** If the wall clock and the monotonic clock have diverged further, the process was suspended or a clock was set. */
const MAX_CLOCK_DIVERGENCE_MS = 500;
/** NTP slews a clock by at most this; quartz alone is more precise. */
const MAX_DRIFT = 500e-6;
/** Server times and the wall clock are truncated to whole milliseconds, so the true time is up to this much later. */
const ROUNDING_MS = 1;
const MAX_SAMPLES = 8;
/** Two requests reach a site at different speeds. On a calm network this much makes the site see the whole gap. */
const NETWORK_MARGIN_MS = 5;

export class ServerClock {
  #samples: Sample[] = [];
  #observation: Observation | null = null;

  /** A response carried the server's time. `before` was read when the call was sent, `after` when the response arrived. */
  sample(serverNow: number, before: ClockReading, after: ClockReading): void {
    this.#samples.push({ serverNow, before, after });
    if (this.#samples.length <= MAX_SAMPLES) return;
    // Drop the widest interval. Intervals widen with age, so the recent and precise samples remain.
    const widths = this.#samples.map((sample) =>
      isFresh(sample.before, after) ? width(intervalOf(sample, after)) : Infinity,
    );
    this.#samples.splice(widths.indexOf(Math.max(...widths)), 1);
  }

  /** Something arrived that the server sent at `serverTime`, such as a task. Tasks often arrive faster than responses. */
  observe(serverTime: number, receivedAt: ClockReading): void {
    const observation = { serverTime, receivedAt };
    const last = this.#observation;
    if (
      last === null ||
      !isFresh(last.receivedAt, receivedAt) ||
      earliestNow(observation, receivedAt) >= earliestNow(last, receivedAt)
    )
      this.#observation = observation;
  }

  /**
   * Must be called in the same tick as the write of the request: a verdict expires at once. `previous` is the request that the
   * lease follows, if this process sent it.
   */
  checkStart(
    { notBefore, startBy, minGapMs }: Pick<Lease, 'notBefore' | 'startBy' | 'minGapMs'>,
    now: ClockReading,
    previous: LocalRequestStart | null = null,
  ): StartVerdict {
    const known = this.#intervalAt(now);
    if (known === null) return { verdict: 'no-clock', reason: this.#whyNoClock(now) };

    if (known.late > startBy) return { verdict: 'too-late' };
    const gapMs = minGapMs > 0 ? minGapMs + NETWORK_MARGIN_MS : 0;
    const restOfGapMs = previous === null ? Infinity : gapMs - minElapsedMs(previous.at, now);
    const waitMs = Math.min(restOfGapMs, notBefore - known.early);
    if (waitMs > 0) return { verdict: 'wait', ms: Math.ceil(waitMs) };
    // The previous request was not recorded later than it was sent, so neither is this one.
    const afterPrevious = previous !== null && restOfGapMs <= 0 ? previous.serverMs + minGapMs : -Infinity;
    const startedAtEarly = Math.max(Math.floor(known.early), afterPrevious);
    const errorMs = Math.max(0, Math.ceil(known.late - startedAtEarly));
    return { verdict: 'go', startedAtEarly, errorMs, measured: restOfGapMs <= 0 };
  }

  /** How long it is certainly not yet `serverTime`. 0 without a fresh sample. */
  leftUntil(serverTime: number, now: ClockReading): number {
    const known = this.#intervalAt(now);
    return known === null ? 0 : Math.max(0, serverTime - known.late);
  }

  /**
   * Every sample is right, so the time lies in the intersection of all intervals. If that is empty, a clock was set, and the
   * time may lie in any of them. null: there is no fresh sample.
   */
  #intervalAt(now: ClockReading): Interval | null {
    const all = this.#samples
      .filter(({ before }) => isFresh(before, now))
      .map((sample) => intervalOf(sample, now));
    if (all.length === 0) return null;
    const [earlies, lates] = [all.map(({ early }) => early), all.map(({ late }) => late)];
    const [early, late] = [Math.max(...earlies), Math.min(...lates)];
    if (early > late) return { early: Math.min(...earlies), late: Math.max(...lates) };
    const observed = this.#observation;
    const atLeast =
      observed !== null && isFresh(observed.receivedAt, now) ? earliestNow(observed, now) : early;
    return { early: atLeast <= late ? Math.max(early, atLeast) : early, late };
  }

  #whyNoClock(now: ClockReading): Extract<StartVerdict, { verdict: 'no-clock' }>['reason'] {
    if (this.#samples.length === 0) return 'never sampled';
    return this.#samples.every(({ before }) => isOld(before, now)) ? 'sample too old' : 'suspended since';
  }
}

/** For the report of a start: the request was written at least this long ago. */
export function elapsedAtLeastMs(write: ClockReading, now: ClockReading): number {
  return Math.max(0, Math.floor(minElapsedMs(write, now) - ROUNDING_MS));
}

function intervalOf({ serverNow, before, after }: Sample, now: ClockReading): Interval {
  const sinceBefore = elapsed(before, now);
  // The monotonic clock may have stopped during a sleep too short to be noticed, but it never runs ahead.
  const atMost = Math.max(sinceBefore.monotonicMs, sinceBefore.wallMs + ROUNDING_MS);
  return {
    early: earliestNow({ serverTime: serverNow, receivedAt: after }, now),
    late: serverNow + ROUNDING_MS + atMost * (1 + MAX_DRIFT),
  };
}

/** The earliest that the server's time can be now. */
function earliestNow({ serverTime, receivedAt }: Observation, now: ClockReading): number {
  return serverTime + minElapsedMs(receivedAt, now);
}

/** Lower limit of the true time between two readings: the monotonic clock may stop while the machine sleeps, but never jumps. */
function minElapsedMs(from: ClockReading, to: ClockReading): number {
  return elapsed(from, to).monotonicMs * (1 - MAX_DRIFT);
}

/** Whether a reading can be extrapolated to now. */
function isFresh(then: ClockReading, now: ClockReading): boolean {
  const { wallMs, monotonicMs } = elapsed(then, now);
  return !isOld(then, now) && Math.abs(wallMs - monotonicMs) <= MAX_CLOCK_DIVERGENCE_MS;
}

function isOld(then: ClockReading, now: ClockReading): boolean {
  const { wallMs, monotonicMs } = elapsed(then, now);
  return Math.max(wallMs, monotonicMs) > MAX_SAMPLE_AGE_MS;
}

function elapsed(from: ClockReading, to: ClockReading): ClockReading {
  return { wallMs: to.wallMs - from.wallMs, monotonicMs: to.monotonicMs - from.monotonicMs };
}

function width({ early, late }: Interval): number {
  return late - early;
}
