/**
 * What this process has fetched and not recorded yet. While that is more than the machine can work on at a time, fetches for
 * domains with a short line wait for those with a long one: the crawl cannot end before its longest line has ended, and the
 * others have time. Without it everybody would be late by turns.
 */

/** A page that is not heard of again for so long is recorded by another worker, or its site was slow. */
const FORGOTTEN_AFTER_MS = 2_000;

/** Who has waited for so long goes: its lease does not last for ever, and a machine that stays slow shall stay busy. */
const LONGEST_WAIT_MS = 2_000;

/** How long a line is remembered: its pages come no more often than its domain's gap allows. */
const LINE_REMEMBERED_MS = 60_000;

/** A line is short that is less than this part of the longest: to order all by length would only move the trouble on. */
const SHORT = 0.5;

export interface Line {
  domain: string;
  /** How many pages wait. */
  length: number;
}

interface Waiting extends Line {
  go(): void;
}

export class Digestion {
  #begun = new Map<string, number>();
  #lines = new Map<string, { length: number; at: number }>();
  #waiting: Waiting[] = [];

  /** `room`: pages that can be worked on at a time. */
  constructor(private readonly room: number) {}

  /** Returns when a page of this line may be fetched; at once, where the machine is not busy. */
  async roomFor(line: Line, signal: AbortSignal): Promise<void> {
    this.#note(line);
    if (signal.aborted || !this.#isBusy() || !this.#isShort(line)) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', go);
        this.#waiting = this.#waiting.filter((other) => other.go !== go);
        resolve();
      };
      const timer = setTimeout(go, LONGEST_WAIT_MS);
      signal.addEventListener('abort', go);
      this.#waiting.push({ ...line, go });
    });
  }

  /** The page has come. */
  begin(pageId: string): void {
    this.#begun.set(pageId, performance.now());
  }

  /** The page is on record. */
  end(pageId: string): void {
    this.#begun.delete(pageId);
    if (this.#isBusy()) return;
    this.#waiting.toSorted((one, other) => other.length - one.length)[0]?.go();
  }

  /** Kept in the order in which they were seen, so that those of domains long done can be dropped from the front. */
  #note({ domain, length }: Line): void {
    const now = performance.now();
    this.#lines.delete(domain);
    this.#lines.set(domain, { length, at: now });
    for (const [oldest, { at }] of this.#lines) {
      if (at > now - LINE_REMEMBERED_MS) break;
      this.#lines.delete(oldest);
    }
  }

  #isBusy(): boolean {
    const since = performance.now() - FORGOTTEN_AFTER_MS;
    for (const [pageId, at] of this.#begun) if (at <= since) this.#begun.delete(pageId);
    return this.#begun.size >= this.room;
  }

  /** What has nothing behind it may be the very page on which a long line is found. */
  #isShort({ length }: Line): boolean {
    if (length === 0) return false;
    const longest = Math.max(...[...this.#lines.values()].map((line) => line.length));
    return length < SHORT * longest;
  }
}
