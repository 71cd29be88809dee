/**
 * What this process has fetched and not recorded yet. A machine that is short of capacity is late with everybody's next slot,
 * and a crawl cannot end before its longest line has ended, while the others have time. So fetches for short lines wait while
 * the machine is busy and the next page of a longer line is on its way; once that one is here, with its slot in hand, they
 * have the machine to themselves.
 */

/** A page that is not heard of again for so long is recorded by another worker, or its site was slow. */
const FORGOTTEN_AFTER_MS = 2_000;

/** Who has waited for so long goes: its lease does not last for ever, and a machine that stays slow shall stay busy. */
const LONGEST_WAIT_MS = 2_000;

/** How long a line is remembered: its pages come no more often than its domain's gap allows. */
const LINE_REMEMBERED_MS = 60_000;

/** A line is short that is less than this part of another: to order all by length would only move the trouble on. */
const SHORT = 0.5;

/** While nobody else is on its way: so many times the room, for what is begun now is in the way of whoever comes next. */
const AT_EASE = 2;

export interface Line {
  domain: string;
  /** How many pages wait. */
  length: number;
}

interface KnownLine {
  length: number;
  at: number;
  /** Since when its next page is on its way; null: that is here, or none is known of. */
  comingSince: number | null;
}

interface Waiting extends Line {
  go(): void;
}

export class Digestion {
  #begun = new Map<string, number>();
  #lines = new Map<string, KnownLine>();
  #waiting: Waiting[] = [];

  /** `room`: pages that can be worked on at a time. */
  constructor(private readonly room: number) {}

  /** A page of this line has its slot, or nearly: who waited for it need not do so any more. */
  hasCome(line: Line): void {
    this.#note(line);
    this.#letGo();
  }

  /** Returns when a page of this line may be fetched; at once, where the machine is not busy. */
  async roomFor(line: Line, signal: AbortSignal): Promise<void> {
    if (signal.aborted || this.#roomLeft(line) > 0) return;
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

  /** The page has been fetched: the throttle is about to send the next one of its line. */
  begin(pageId: string, domain: string): void {
    const now = performance.now();
    this.#begun.set(pageId, now);
    const line = this.#lines.get(domain);
    if (line !== undefined) line.comingSince = now;
  }

  /** The page is on record. */
  end(pageId: string): void {
    this.#begun.delete(pageId);
    this.#letGo();
  }

  /** Those that are let go now have not begun yet when the next one is looked at. */
  #letGo(): void {
    let gone = 0;
    for (const one of this.#waiting.toSorted((one, other) => other.length - one.length)) {
      if (this.#roomLeft(one) <= gone) return;
      gone += 1;
      one.go();
    }
  }

  /** Kept in the order in which they were seen, so that those of domains long done can be dropped from the front. */
  #note({ domain, length }: Line): void {
    const now = performance.now();
    this.#lines.delete(domain);
    this.#lines.set(domain, { length, at: now, comingSince: null });
    for (const [oldest, { at }] of this.#lines) {
      if (at > now - LINE_REMEMBERED_MS) break;
      this.#lines.delete(oldest);
    }
  }

  /** What has nothing behind it may be the very page on which a long line is found: it never waits. */
  #roomLeft({ length }: Line): number {
    if (length === 0) return Infinity;
    const recently = performance.now() - FORGOTTEN_AFTER_MS;
    for (const [pageId, at] of this.#begun) if (at <= recently) this.#begun.delete(pageId);
    const longer = [...this.#lines.values()].filter((line) => length < SHORT * line.length);
    if (longer.length === 0) return Infinity;
    const isAnyComing = longer.some(({ comingSince }) => comingSince !== null && comingSince > recently);
    return (isAnyComing ? 1 : AT_EASE) * this.room - this.#begun.size;
  }
}
