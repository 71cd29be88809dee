/**
 * Bounds the memory of all bodies of a process together: without it, two hundred small responses that decode to large bodies
 * and then never end would hold gigabytes. When it is full, the largest body of the site that holds the most is aborted. A
 * body that is complete is not, because it is about to be stored: if its site holds the most, a body that grows waits for that.
 */

import { AsyncLocalStorage } from 'node:async_hooks';

/** `onFull` is called no more often than this: a hostile crowd must not fill the log too. */
const REPORT_INTERVAL_MS = 60_000;

/** The memory of one fetch. */
export interface FetchMemory {
  /** Aborted: the body has to be dropped at once. Its bytes do not count any more. */
  readonly signal: AbortSignal;
  isWaiting(): boolean;
  /** What the body may need at most. The limit for all bodies is never lower: such a body could not be read otherwise. */
  expect(peakBytes: number): void;
  /**
   * Resolves when `bytes` may be allocated. Rejects if the fetch is aborted or released first. `replaced` of the bytes held so far
   * are given back right after: they must fit in beside the new ones, but do not make the fetch a larger one.
   */
  take(bytes: number, replaced?: number): Promise<void>;
  giveBack(bytes: number): void;
  /** The body does not grow any more. It will be stored, and released. */
  complete(): void;
  release(): void;
}

/** What a fetch holds. */
export interface Holding {
  site: string;
  bytes: number;
  isComplete: boolean;
}

interface OpenFetch extends Holding {
  peakBytes: number;
  abortion: AbortController;
  /** Runs a function in the asynchronous context in which the fetch began. */
  inContext: (work: () => void) => void;
}

interface Waiter {
  fetch: OpenFetch;
  bytes: number;
  replaced: number;
  resolve: () => void;
  reject: (why: Error) => void;
}

export class BodyMemory {
  readonly #maxBytes: number;
  readonly #onFull: (aborted: Holding) => void;
  readonly #open = new Set<OpenFetch>();
  readonly #waiters = new Set<Waiter>();
  #reportedAt = Number.NEGATIVE_INFINITY;

  constructor(maxBytes: number, onFull: (aborted: Holding) => void = () => {}) {
    this.#maxBytes = maxBytes;
    this.#onFull = onFull;
  }

  get heldBytes(): number {
    return sumOf([...this.#open], ({ bytes }) => bytes);
  }

  /** `site`: the registrable domain, because its owner can make up as many hosts as it likes. */
  open(site: string): FetchMemory {
    const abortion = new AbortController();
    const inContext = AsyncLocalStorage.snapshot();
    const fetch: OpenFetch = { site, bytes: 0, isComplete: false, peakBytes: 0, abortion, inContext };
    this.#open.add(fetch);
    return {
      signal: abortion.signal,
      isWaiting: () => [...this.#waiters].some((waiter) => waiter.fetch === fetch),
      expect: (peakBytes) => {
        fetch.peakBytes = peakBytes;
      },
      take: (bytes, replaced = 0) => this.#take(fetch, bytes, replaced),
      giveBack: (bytes) => {
        fetch.bytes -= bytes;
        this.#serveWaiters();
      },
      complete: () => {
        fetch.isComplete = true;
        this.#serveWaiters();
      },
      release: () => {
        this.#close(fetch);
        this.#serveWaiters();
      },
    };
  }

  #take(fetch: OpenFetch, bytes: number, replaced: number): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiter = { fetch, bytes, replaced, resolve, reject };
      this.#waiters.add(waiter);
      this.#serve(waiter);
    });
  }

  #serveWaiters(): void {
    for (const waiter of this.#waiters) this.#serve(waiter);
  }

  #serve(waiter: Waiter): void {
    const { fetch, bytes, replaced, resolve, reject } = waiter;
    while (this.#open.has(fetch) && this.heldBytes + bytes > this.#limit()) {
      const victim = selectVictim([...this.#open], fetch, bytes - replaced);
      if (victim === null) return;
      this.#abort(victim);
      // The aborted fetch releases its memory at once, and this waiter may have been served with it.
      if (!this.#waiters.has(waiter)) return;
    }
    this.#waiters.delete(waiter);
    if (!this.#open.has(fetch)) {
      reject(new Error('the memory of this fetch was taken away'));
      return;
    }
    fetch.bytes += bytes;
    resolve();
  }

  #limit(): number {
    return Math.max(this.#maxBytes, ...[...this.#open].map(({ peakBytes }) => peakBytes));
  }

  #abort(victim: OpenFetch): void {
    this.#close(victim);
    const now = performance.now();
    if (now - this.#reportedAt > REPORT_INTERVAL_MS) {
      this.#reportedAt = now;
      // What is logged there is about the victim's page, and not about the one that asked for memory.
      victim.inContext(() => this.#onFull(victim));
    }
    victim.abortion.abort();
  }

  #close(fetch: OpenFetch): void {
    this.#open.delete(fetch);
    for (const waiter of this.#waiters) if (waiter.fetch === fetch) this.#serve(waiter);
  }
}

/** Which body to abort so that `asking` may grow by `bytes`. null: none, the site that holds the most is about to store its bodies. */
export function selectVictim<T extends Holding>(fetches: readonly T[], asking: T, bytes: number): T | null {
  const sizeOf = (fetch: T): number => fetch.bytes + (fetch === asking ? bytes : 0);
  const bySite = new Map<string, T[]>();
  for (const fetch of fetches) bySite.set(fetch.site, [...(bySite.get(fetch.site) ?? []), fetch]);
  const largestSite = maxBy([...bySite.values()], (ofSite) => sumOf(ofSite, sizeOf)) ?? [];
  const growing = largestSite.filter((fetch) => !fetch.isComplete && sizeOf(fetch) > 0);
  return maxBy(growing, sizeOf);
}

function sumOf<T>(items: readonly T[], sizeOf: (item: T) => number): number {
  return items.reduce((sum, item) => sum + sizeOf(item), 0);
}

function maxBy<T>(items: readonly T[], sizeOf: (item: T) => number): T | null {
  return items.reduce<T | null>(
    (largest, item) => (largest === null || sizeOf(item) > sizeOf(largest) ? item : largest),
    null,
  );
}
