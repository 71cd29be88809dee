/** How much of a tree is built of one document: so many parts, so deep, in such a time. */

/**
 * Where browsers stop nesting too. The standard's algorithm looks through all open elements for each new one: 50,000
 * nested elements, a quarter of a megabyte, took it half a minute.
 */
const MAX_DEPTH = 512;

/** Some 200 bytes each, so that the tree of any document fits well into the heap of the parse thread. */
const MAX_PARTS = 1_000_000;

/** For what the standard adds to the smallest page. */
const SPARE_PARTS = 10_000;

/** A millisecond's work: a look at the clock costs nothing beside it. */
const PARTS_BETWEEN_LOOKS = 1_000;

/** No tree is built of it: that would take memory or time out of all proportion. */
export class Unwieldy extends Error {}

/** Parsing was broken off. Another thread may have more patience. */
export class OutOfTime extends Error {}

export class Bounds {
  private depth = 0;
  private parts = 0;
  private readonly mostParts: number;
  private readonly giveUpAt: number;

  /**
   * A part is an element, an attribute, a text or a comment. The densest honest document has one for two characters;
   * `<p><b id=1><b id=2>...` followed by `<p>x<p>x...` has as many as it likes, because the standard opens every forgotten
   * <b> again in every <p>: 20 kB came to a gigabyte.
   */
  constructor({ length, longestMs }: { length: number; longestMs: number }) {
    this.mostParts = Math.min(MAX_PARTS, SPARE_PARTS + length);
    this.giveUpAt = performance.now() + longestMs;
  }

  add(parts: number): void {
    const before = this.parts;
    this.parts += parts;
    if (this.parts > this.mostParts) throw new Unwieldy();
    if (before % PARTS_BETWEEN_LOOKS > this.parts % PARTS_BETWEEN_LOOKS) this.look();
  }

  /** Of parts that are made already, and added later. */
  expect(parts: number): void {
    if (this.parts + parts > this.mostParts) throw new Unwieldy();
  }

  /** For work that adds no parts. */
  look(): void {
    if (performance.now() > this.giveUpAt) throw new OutOfTime();
  }

  enter(): void {
    this.depth += 1;
    if (this.depth > MAX_DEPTH) throw new Unwieldy();
  }

  leave(): void {
    this.depth -= 1;
  }
}
