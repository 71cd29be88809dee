/**
 * What this process has fetched and not recorded yet. While that is more than the machine can work on at a time, further
 * fetches wait for it, those of the longest line first: the crawl cannot end before its longest line has ended, and the others
 * have time. Without it everybody would be late by turns.
 */

/** A page that is not heard of again for so long is recorded by another worker, or its site was slow. */
const FORGOTTEN_AFTER_MS = 2_000;

/** Who has waited for so long goes: its lease does not last for ever, and a machine that stays slow shall stay busy. */
const LONGEST_WAIT_MS = 2_000;

/** How long a line is remembered as the longest: its pages come no more often than its domain's gap allows. */
const LINE_REMEMBERED_MS = 60_000;

interface Waiting {
  line: number;
  go(): void;
}

export class Digestion {
  #begun = new Map<string, number>();
  #waiting: Waiting[] = [];
  #longest = { line: 0, at: 0 };

  /** `room`: pages that can be worked on at a time. Those of the longest line may be as many again on top. */
  constructor(private readonly room: number) {}

  /** Returns when a page of a domain where so many wait may be fetched; at once, where the machine is not busy. */
  async roomFor(line: number, signal: AbortSignal): Promise<void> {
    const now = performance.now();
    if (line >= this.#longest.line || now - this.#longest.at > LINE_REMEMBERED_MS)
      this.#longest = { line, at: now };
    if (this.#hasRoomFor(line) || signal.aborted) return;
    await new Promise<void>((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', go);
        this.#waiting = this.#waiting.filter((other) => other.go !== go);
        resolve();
      };
      const timer = setTimeout(go, LONGEST_WAIT_MS);
      signal.addEventListener('abort', go);
      this.#waiting.push({ line, go });
    });
  }

  /** The page has come. */
  begin(pageId: string): void {
    this.#begun.set(pageId, performance.now());
  }

  /** The page is on record. */
  end(pageId: string): void {
    this.#begun.delete(pageId);
    const next = this.#waiting.reduce<Waiting | null>(
      (longest, other) => (longest === null || other.line > longest.line ? other : longest),
      null,
    );
    if (next !== null && this.#hasRoomFor(next.line)) next.go();
  }

  #hasRoomFor(line: number): boolean {
    const since = performance.now() - FORGOTTEN_AFTER_MS;
    for (const [pageId, begun] of this.#begun) if (begun <= since) this.#begun.delete(pageId);
    return this.#begun.size < (line >= this.#longest.line ? 2 * this.room : this.room);
  }
}
