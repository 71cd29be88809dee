/**
 * Whether this process keeps up with its plan. Fetches that are scheduled after their slot mean that pages in progress already use
 * all of the machine: every further page would slow them down.
 */

/** A page without a wait is scheduled some 100 ms after its slot, one that sleeps until its slot before it. */
const LATE_MS = 300;
/** Of the last fetches so many may be late: one slow task is not an overload. */
const RECENT = 20;
const MAX_LATE = 4;
/** Older ones say nothing about now. */
const RECENT_MS = 10_000;

export class FetchLateness {
  readonly #recent: { lateMs: number; at: number }[] = [];

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** `scheduledAt` and `notBefore` are on the same clock, the Temporal server's. */
  record(scheduledAt: number, notBefore: number): void {
    this.#recent.push({ lateMs: scheduledAt - notBefore, at: this.now() });
    if (this.#recent.length > RECENT) this.#recent.shift();
  }

  get isBehind(): boolean {
    const since = this.now() - RECENT_MS;
    return this.#recent.filter(({ lateMs, at }) => lateMs > LATE_MS && at >= since).length > MAX_LATE;
  }
}
