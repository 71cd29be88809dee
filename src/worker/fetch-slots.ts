/**
 * Which of the waiting requests of this process is sent next. A host that never answers occupies a slot until its timeout, so
 * slots are shared out: each site (registrable domain) may have a part of them, and hosts that are not known to answer quickly
 * have at most half together. Of the requests that may go, the one goes whose site has the fewest open ones.
 */
import { LRUCache } from 'lru-cache';

export interface FetchSlotRequest {
  host: string;
  site: string;
  /** Open requests that the crawl allows on the host: its operator may want more than a share. */
  concurrency: number;
  /** What the limit per address is kept by. null: the address is exempt. */
  addressBlock: string | null;
}

export interface FetchSlot {
  /** `tookMs`: how long the exchange took. null: nothing was sent. */
  release(tookMs: number | null): void;
}

/** Part of all slots that one site may have. */
const SITE_SHARE = 1 / 8;
/** Part of all slots that hosts may have together that are slow, or not known yet. */
const UNPROVEN_SHARE = 1 / 2;

/** An exchange that takes longer makes its host slow ... */
const SLOW_MS = 3_000;
/** ... for this many times as long, so that a host cannot be quick and slow by turns. */
const SLOW_FACTOR = 10;
/** A host that was evicted counts as unknown. */
const MAX_HOSTS = 10_000;

/** Requests that may wait in this process, as multiples of the slots. Each occupies an activity, so others must wait elsewhere. */
export const MAX_WAITING = { unproven: 2, site: 1 / 4, all: 3 };

/** With few slots: pages of one domain may come together after the machine was busy, as many as the window of a domain. */
const MIN_WAITING_OF_SITE = 4;

interface Waiting {
  request: FetchSlotRequest;
  /** null: it waits no longer, and gets nothing. */
  end: (slot: FetchSlot | null) => void;
}

export class FetchSlots {
  readonly #open = new Set<FetchSlotRequest>();
  /** In the order they came. */
  readonly #waiting = new Set<Waiting>();
  /** Until when a host counts as slow. Only hosts that have been fetched from are in it. */
  readonly #slowUntil = new LRUCache<string, number>({ max: MAX_HOSTS });

  constructor(
    private readonly slots: number,
    private readonly maxOpenPerAddress: number,
    private readonly now: () => number = () => performance.now(),
  ) {}

  /** Requests that hold a slot. */
  get open(): number {
    return this.#open.size;
  }

  /** Requests that wait for one. */
  get waiting(): number {
    return this.#waiting.size;
  }

  /** Resolves to null if too many requests wait. Rejects when the signal aborts. */
  async acquire(request: FetchSlotRequest, signal: AbortSignal): Promise<FetchSlot | null> {
    signal.throwIfAborted();
    if (this.#mayGo(request)) return this.#grant(request);
    if (!this.#makeRoom(request)) return null;
    return new Promise((resolve, reject) => {
      const abort = (): void => {
        this.#waiting.delete(waiting);
        reject(signal.reason);
      };
      const waiting: Waiting = {
        request,
        end: (slot) => {
          this.#waiting.delete(waiting);
          signal.removeEventListener('abort', abort);
          resolve(slot);
        },
      };
      this.#waiting.add(waiting);
      signal.addEventListener('abort', abort, { once: true });
    });
  }

  #grant(request: FetchSlotRequest): FetchSlot {
    this.#open.add(request);
    return {
      release: (tookMs) => {
        if (!this.#open.delete(request)) return;
        if (tookMs !== null) this.#learn(request.host, tookMs);
        this.#grantNext();
      },
    };
  }

  /** One release may let several go: a host that has become quick no longer counts as unproven. */
  #grantNext(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      next.end(this.#grant(next.request));
    }
  }

  #next(): Waiting | null {
    let [next, fewest]: [Waiting | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const waiting of this.#waiting) {
      if (!this.#mayGo(waiting.request)) continue;
      const open = count(this.#open, ({ site }) => site === waiting.request.site);
      if (open < fewest) [next, fewest] = [waiting, open];
    }
    return next;
  }

  #mayGo({ host, site, concurrency, addressBlock }: FetchSlotRequest): boolean {
    if (this.#open.size >= this.slots) return false;
    const siteShare = Math.max(concurrency, 1, Math.floor(SITE_SHARE * this.slots));
    if (count(this.#open, (open) => open.site === site) >= siteShare) return false;
    const isFull =
      addressBlock !== null &&
      count(this.#open, (open) => open.addressBlock === addressBlock) >= this.maxOpenPerAddress;
    if (isFull) return false;
    const unprovenShare = Math.max(1, Math.floor(UNPROVEN_SHARE * this.slots));
    return this.#isProven(host) || count(this.#open, (open) => !this.#isProven(open.host)) < unprovenShare;
  }

  /** Whether the request may wait. If too many do, the last one of the site with the most of them gives way. */
  #makeRoom({ host, site }: FetchSlotRequest): boolean {
    const limit = (multiple: number): number => Math.max(1, Math.floor(multiple * this.slots));
    const waiting = [...this.#waiting];
    const rivals = this.#isProven(host)
      ? waiting
      : waiting.filter(({ request }) => !this.#isProven(request.host));
    const isCrowded =
      waiting.length >= limit(MAX_WAITING.all) ||
      (!this.#isProven(host) && rivals.length >= limit(MAX_WAITING.unproven));
    const sizes = new Map<string, number>();
    for (const { request } of rivals) sizes.set(request.site, (sizes.get(request.site) ?? 0) + 1);
    const own = sizes.get(site) ?? 0;
    if (own >= Math.max(MIN_WAITING_OF_SITE, limit(MAX_WAITING.site))) return false;
    if (!isCrowded) return true;
    const most = Math.max(...sizes.values());
    if (most <= own + 1) return false;
    rivals.findLast(({ request }) => sizes.get(request.site) === most)?.end(null);
    return true;
  }

  #isProven(host: string): boolean {
    const slowUntil = this.#slowUntil.get(host);
    return slowUntil !== undefined && slowUntil <= this.now();
  }

  #learn(host: string, tookMs: number): void {
    const slowUntil = tookMs > SLOW_MS ? this.now() + SLOW_FACTOR * tookMs : 0;
    this.#slowUntil.set(host, Math.max(slowUntil, this.#slowUntil.get(host) ?? 0));
  }
}

function count<T>(items: Iterable<T>, matches: (item: T) => boolean): number {
  let found = 0;
  for (const item of items) if (matches(item)) found += 1;
  return found;
}
