/** Limits on the tree of one document: its size, its depth, and the time to build it. */

/**
 * Browsers stop nesting there too. The standard's algorithm searches all open elements for each new one: 50,000 nested
 * elements, a quarter of a megabyte, took half a minute.
 */
const MAX_DEPTH = 512;

/** About 200 bytes each, so the tree of any document fits well into the heap of the parse thread. Larger ones are read without a tree. */
const MAX_NODES = 400_000;

/** For the elements that the standard adds to even the smallest page. */
const SPARE_NODES = 10_000;

/** A millisecond's work at most, beside which reading the clock costs nothing. */
const STEPS_BETWEEN_CLOCK_CHECKS = 1_000;

/** A tree of this document would take memory or time out of all proportion. */
export class DocumentTooComplexError extends Error {}

/** The tree was not built in time. Another thread may allow more. */
export class ParseTimeoutError extends Error {}

/**
 * Passes when the time is over both by the clock and in CPU time of this process, which includes its other threads. On an
 * idle machine both are the same. On a busy one an honest page must not fail for the time that other processes had.
 */
export class Deadline {
  private readonly startedAt: number;
  private readonly cpuAtStart: number;

  constructor(
    private readonly timeoutMs: number,
    private readonly clocks: DeadlineClocks = PROCESS_CLOCKS,
  ) {
    this.startedAt = clocks.nowMs();
    this.cpuAtStart = clocks.cpuMs();
  }

  hasPassed(): boolean {
    const { timeoutMs, clocks } = this;
    return clocks.nowMs() - this.startedAt > timeoutMs && clocks.cpuMs() - this.cpuAtStart > timeoutMs;
  }
}

export interface DeadlineClocks {
  nowMs(): number;
  /** CPU time used so far. */
  cpuMs(): number;
}

export const PROCESS_CLOCKS: DeadlineClocks = {
  nowMs: () => performance.now(),
  cpuMs() {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1_000;
  },
};

export class ParseLimits {
  private depth = 0;
  private nodes = 0;
  private steps = 0;
  private readonly maxNodes: number;
  private readonly deadline: Deadline;

  /**
   * An element, an attribute, a text and a comment each count as a node. The densest honest document has one for two
   * characters. `<p><b id=1><b id=2>...` followed by `<p>x<p>x...` has any number of them, because the standard reopens
   * every unclosed <b> in every <p>: 20 kB grew to a gigabyte.
   */
  constructor({ length, deadline }: { length: number; deadline: Deadline }) {
    this.maxNodes = Math.min(MAX_NODES, SPARE_NODES + length);
    this.deadline = deadline;
    this.checkClock();
  }

  addNodes(count: number): void {
    this.nodes += count;
    if (this.nodes > this.maxNodes) throw new DocumentTooComplexError();
    this.work(count);
  }

  /** Counts work that adds no nodes as well, so that the clock is checked during it. */
  work(steps: number): void {
    this.steps += steps;
    if (this.steps < STEPS_BETWEEN_CLOCK_CHECKS) return;
    this.steps = 0;
    this.checkClock();
  }

  openElement(): void {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new DocumentTooComplexError();
  }

  closeElement(): void {
    this.depth -= 1;
  }

  private checkClock(): void {
    if (this.deadline.hasPassed()) throw new ParseTimeoutError();
  }
}
