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

/** What the clock of another machine shows now, as far as this process can tell. */
export interface RemoteTime {
  atLeast(): number;
  atMost(): number;
}

/** The clock of another machine, which was read at some time between two local readings. */
export class RemoteClock implements RemoteTime {
  constructor(
    private readonly now: number,
    private readonly before: ClockReading,
    private readonly after: ClockReading,
    private readonly read: () => ClockReading = readClocks,
  ) {}

  atLeast(): number {
    return this.now + elapsedAtLeastMs(this.after, this.read());
  }

  atMost(): number {
    return this.now + elapsedAtMostMs(this.before, this.read());
  }

  ageMs(): number {
    return this.read().monotonicMs - this.after.monotonicMs;
  }
}

/** After that the drift of the clocks makes a reading useless. */
const MAX_READING_AGE_MS = 2_000;

/**
 * The clock of another machine, read again and again. A single reading may be far off, because its answer was slow: all recent ones
 * together are as precise as the fastest of them.
 */
export class SharedRemoteClock {
  /** The readings with the highest lower and the lowest upper limit. */
  private low: RemoteClock | null = null;
  private high: RemoteClock | null = null;

  /** Returns what is known of the clock from now on: never less than this reading alone says. */
  add(reading: RemoteClock): RemoteTime {
    const { low, high } = this;
    // Otherwise the remote clock was set.
    const agrees = this.atLeast(reading) <= this.atMost(reading);
    if (!agrees || !isRecent(low) || reading.atLeast() >= low.atLeast()) this.low = reading;
    if (!agrees || !isRecent(high) || reading.atMost() <= high.atMost()) this.high = reading;
    return { atLeast: () => this.atLeast(reading), atMost: () => this.atMost(reading) };
  }

  private atLeast(reading: RemoteClock): number {
    return isRecent(this.low) ? Math.max(reading.atLeast(), this.low.atLeast()) : reading.atLeast();
  }

  private atMost(reading: RemoteClock): number {
    return isRecent(this.high) ? Math.min(reading.atMost(), this.high.atMost()) : reading.atMost();
  }
}

function isRecent(reading: RemoteClock | null): reading is RemoteClock {
  return reading !== null && reading.ageMs() <= MAX_READING_AGE_MS;
}
