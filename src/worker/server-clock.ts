/**
 * What a worker knows of the throttle's clock, and whether a lease allows a request right now. A worker does not trust its
 * own clock: from the local times around a call that brought the server's time back, it knows that time only as an
 * interval. `startBy` is judged by the late end of it and `notBefore` by the early end, so that an error of any clock makes
 * the gap between two requests longer, never shorter. What it does know is how long ago it sent a request itself: where that
 * is the one before, the gap is measured from it by the monotonic clock alone.
 */
import type { Lease } from '../core/slot-protocol.ts';

/** Both local clocks read in one tick: the wall clock runs on while the machine sleeps, the monotonic one never jumps. */
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
   * `startedAtEarly`: the server's time of the write, at most `errorMs` too early. It is what gets recorded. `measured`: the gap
   * was measured from the request before.
   */
  | { verdict: 'go'; startedAtEarly: number; errorMs: number; measured: boolean }
  | { verdict: 'wait'; ms: number }
  | { verdict: 'too-late' }
  /** Take a new sample, or hand the lease back. */
  | { verdict: 'no-clock'; why: 'never sampled' | 'sample too old' | 'suspended since' };

/** A request that this process wrote itself. */
export interface LocalRequestStart {
  at: ClockReading;
  /** As it was recorded: its early end. */
  serverMs: number;
}

/** Server time now: between these two. */
interface Interval {
  early: number;
  late: number;
}

interface Sample {
  serverNow: number;
  before: ClockReading;
  after: ClockReading;
}

/** Half a sample: the server did something at that time, and we heard of it then. So it is later there by now. */
interface Hearing {
  serverThen: number;
  heard: ClockReading;
}

/** A sample older than this says nothing: a clock may have been set, a machine moved. */
const SAMPLE_LIFE_MS = 5 * 60_000;
/** Wall and monotonic clock further apart than this since the sample: the process was suspended, or a clock was set. */
const CLOCKS_APART_MS = 500;
/** The most by which NTP slews a clock; quartz alone is better than that. */
const DRIFT = 500e-6;
/** Server times, and the wall clock, are cut to whole milliseconds: the true time is up to this later. */
const ROUNDING_MS = 1;
const SAMPLES_KEPT = 8;
/** Two requests take their ways to a site at different speeds; it shall see the gap that we kept, or more, on a calm network. */
const WAY_MS = 5;

export class ServerClock {
  #samples: Sample[] = [];
  #hearing: Hearing | null = null;

  /** An answer carried the server's time; `before` was read as the call went out, `after` as the answer came in. */
  sample(serverNow: number, before: ClockReading, after: ClockReading): void {
    this.#samples.push({ serverNow, before, after });
    if (this.#samples.length <= SAMPLES_KEPT) return;
    // The widest goes. Samples widen with age, so the rest is at once the recent and the precise.
    const widths = this.#samples.map((sample) =>
      isFresh(sample.before, after) ? width(intervalOf(sample, after)) : Infinity,
    );
    this.#samples.splice(widths.indexOf(Math.max(...widths)), 1);
  }

  /** Something came in that the server sent at that time. It often came more directly than an answer does. */
  observe(serverThen: number, heard: ClockReading): void {
    const hearing = { serverThen, heard };
    const last = this.#hearing;
    if (last === null || earliestBy(hearing, heard) >= earliestBy(last, heard) || !isFresh(last.heard, heard))
      this.#hearing = hearing;
  }

  /**
   * To be asked in the very tick in which the request is written: a verdict is worth nothing a tick later. `before`: the request
   * that the lease follows, if this process sent it.
   */
  checkStart(
    { notBefore, startBy, minGapMs }: Pick<Lease, 'notBefore' | 'startBy' | 'minGapMs'>,
    now: ClockReading,
    before: LocalRequestStart | null = null,
  ): StartVerdict {
    const known = this.#intervalAt(now);
    if (known === null) return { verdict: 'no-clock', why: this.#whyNoClock(now) };

    if (known.late > startBy) return { verdict: 'too-late' };
    const gapMs = minGapMs > 0 ? minGapMs + WAY_MS : 0;
    const owedMs = before === null ? Infinity : gapMs - atLeastMs(before.at, now);
    const waitMs = Math.min(owedMs, notBefore - known.early);
    if (waitMs > 0) return { verdict: 'wait', ms: Math.ceil(waitMs) };
    // That one was recorded no later than it was, so this one is not recorded later than it is.
    const sinceBefore = before !== null && owedMs <= 0 ? before.serverMs + minGapMs : -Infinity;
    const startedAtEarly = Math.max(Math.floor(known.early), sinceBefore);
    const errorMs = Math.max(0, Math.ceil(known.late - startedAtEarly));
    return { verdict: 'go', startedAtEarly, errorMs, measured: owedMs <= 0 };
  }

  /**
   * Each sample is right, so the time lies in all of them: one had a quick way there, another a quick way back. Where they
   * contradict each other somebody's clock was set, and the time may be in any of them. null: there is none.
   */
  #intervalAt(now: ClockReading): Interval | null {
    const all = this.#samples
      .filter(({ before }) => isFresh(before, now))
      .map((sample) => intervalOf(sample, now));
    if (all.length === 0) return null;
    const [earlies, lates] = [all.map(({ early }) => early), all.map(({ late }) => late)];
    const [early, late] = [Math.max(...earlies), Math.min(...lates)];
    if (early > late) return { early: Math.min(...earlies), late: Math.max(...lates) };
    const heard = this.#hearing;
    const atLeast = heard !== null && isFresh(heard.heard, now) ? earliestBy(heard, now) : early;
    return { early: atLeast <= late ? Math.max(early, atLeast) : early, late };
  }

  #whyNoClock(now: ClockReading): Extract<StartVerdict, { verdict: 'no-clock' }>['why'] {
    if (this.#samples.length === 0) return 'never sampled';
    return this.#samples.every(({ before }) => isOld(before, now)) ? 'sample too old' : 'suspended since';
  }
}

/** For the release: a request written at `write` was written at least this long ago. */
export function elapsedAtLeastMs(write: ClockReading, now: ClockReading): number {
  return Math.max(0, Math.floor(atLeastMs(write, now) - ROUNDING_MS));
}

function intervalOf({ serverNow, before, after }: Sample, now: ClockReading): Interval {
  const sinceBefore = elapsed(before, now);
  // The monotonic clock may have stood still in a sleep too short to be noticed, but it never runs ahead of the time.
  const atMost = Math.max(sinceBefore.monotonicMs, sinceBefore.wallMs + ROUNDING_MS);
  return {
    early: earliestBy({ serverThen: serverNow, heard: after }, now),
    late: serverNow + ROUNDING_MS + atMost * (1 + DRIFT),
  };
}

function earliestBy({ serverThen, heard }: Hearing, now: ClockReading): number {
  return serverThen + atLeastMs(heard, now);
}

/** True time between two readings: the monotonic clock may stand still while the machine sleeps, and never jumps ahead. */
function atLeastMs(from: ClockReading, to: ClockReading): number {
  return elapsed(from, to).monotonicMs * (1 - DRIFT);
}

/** Whether what was read off the clocks then can be carried on until now. */
function isFresh(then: ClockReading, now: ClockReading): boolean {
  const { wallMs, monotonicMs } = elapsed(then, now);
  return !isOld(then, now) && Math.abs(wallMs - monotonicMs) <= CLOCKS_APART_MS;
}

function isOld(then: ClockReading, now: ClockReading): boolean {
  const { wallMs, monotonicMs } = elapsed(then, now);
  return Math.max(wallMs, monotonicMs) > SAMPLE_LIFE_MS;
}

function elapsed(from: ClockReading, to: ClockReading): ClockReading {
  return { wallMs: to.wallMs - from.wallMs, monotonicMs: to.monotonicMs - from.monotonicMs };
}

function width({ early, late }: Interval): number {
  return late - early;
}
