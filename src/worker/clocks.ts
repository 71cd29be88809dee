/**
 * How much time has passed in this process. No clock of a worker is trusted alone: the monotonic clock may stop while the
 * machine sleeps, and the wall clock may be set. Both limits err on the side that makes a gap longer.
 */

/** Both local clocks, read together. */
export interface ClockReading {
  /** Date.now() */
  wallMs: number;
  /** performance.now() */
  monotonicMs: number;
}

/** NTP slews a clock by at most this; quartz alone is more precise. */
const MAX_DRIFT = 500e-6;
/** The wall clock is truncated to whole milliseconds. */
const ROUNDING_MS = 1;

export function readClocks(): ClockReading {
  return { wallMs: Date.now(), monotonicMs: performance.now() };
}

/** Lower limit: the monotonic clock may have stopped, but never jumps ahead. */
export function elapsedAtLeastMs(from: ClockReading, to: ClockReading): number {
  return Math.max(0, (to.monotonicMs - from.monotonicMs) * (1 - MAX_DRIFT));
}

/** Upper limit: of the two clocks, the one that has moved further. */
export function elapsedAtMostMs(from: ClockReading, to: ClockReading): number {
  const wallMs = to.wallMs - from.wallMs + ROUNDING_MS;
  return Math.max(to.monotonicMs - from.monotonicMs, wallMs) * (1 + MAX_DRIFT);
}

/** The clock of another machine, which was read at some time between two local readings. */
export class RemoteClock {
  constructor(
    private readonly now: number,
    private readonly before: ClockReading,
    private readonly after: ClockReading,
  ) {}

  /** What it shows now, at least. */
  atLeast(): number {
    return this.now + elapsedAtLeastMs(this.after, readClocks());
  }

  atMost(): number {
    return this.now + elapsedAtMostMs(this.before, readClocks());
  }
}
