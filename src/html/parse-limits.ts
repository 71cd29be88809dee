/** Limits on the tree of one document: its size, its depth, and the time to build it. */

/**
 * Browsers stop nesting there too. The standard's algorithm searches all open elements for each new one: 50,000 nested
 * elements, a quarter of a megabyte, took half a minute.
 */
const MAX_DEPTH = 512;

/** About 200 bytes each, so the tree of any document fits well into the heap of the parse thread. */
const MAX_NODES = 1_000_000;

/** For the elements that the standard adds to even the smallest page. */
const SPARE_NODES = 10_000;

/** A millisecond's work at most, beside which reading the clock costs nothing. */
const STEPS_BETWEEN_CLOCK_CHECKS = 1_000;

/** A tree of this document would take memory or time out of all proportion. */
export class DocumentTooComplexError extends Error {}

/** The tree was not built in time. Another thread may allow more. */
export class ParseTimeoutError extends Error {}

export class ParseLimits {
  private depth = 0;
  private nodes = 0;
  private steps = 0;
  private readonly maxNodes: number;
  private readonly deadline: number;

  /**
   * An element, an attribute, a text and a comment each count as a node. The densest honest document has one for two
   * characters. `<p><b id=1><b id=2>...` followed by `<p>x<p>x...` has any number of them, because the standard reopens
   * every unclosed <b> in every <p>: 20 kB grew to a gigabyte.
   */
  constructor({ length, timeoutMs }: { length: number; timeoutMs: number }) {
    this.maxNodes = Math.min(MAX_NODES, SPARE_NODES + length);
    this.deadline = performance.now() + timeoutMs;
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
    if (performance.now() > this.deadline) throw new ParseTimeoutError();
  }
}
