/**
 * Whether this process keeps up. Fetches that are ready after their slots, and pages that wait for their first workflow task, mean
 * that pages in progress already use all of the machine: every further page would slow them down.
 */

/** A fetch whose page need not wait for its slot is ready some 100 ms after it, all others before it. */
const LATE_FETCH_MS = 300;
/** The first workflow task of a page usually begins within 100 ms. A sweep starts 20 pages at once, which takes longer. */
const LATE_START_MS = 1_000;
/** Of the last fetches and pages so many may be late: one slow task is not an overload. */
const RECENT = 20;
const MAX_LATE = 4;
/** Older ones say nothing about now. */
const RECENT_MS = 10_000;

export class WorkerLateness {
  readonly #recent: { isLate: boolean; at: number }[] = [];

  constructor(private readonly now: () => number = () => performance.now()) {}

  /** `lateMs`: after its slot a fetch was ready to be sent; negative: before it. */
  recordFetch(lateMs: number): void {
    this.#record(lateMs > LATE_FETCH_MS);
  }

  /** `waitedMs`: between the start of a page's workflow and its first task. */
  recordPage(waitedMs: number): void {
    this.#record(waitedMs > LATE_START_MS);
  }

  get isBehind(): boolean {
    const since = this.now() - RECENT_MS;
    return this.#recent.filter(({ isLate, at }) => isLate && at >= since).length > MAX_LATE;
  }

  #record(isLate: boolean): void {
    this.#recent.push({ isLate, at: this.now() });
    if (this.#recent.length > RECENT) this.#recent.shift();
  }
}
