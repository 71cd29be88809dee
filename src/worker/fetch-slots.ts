/**
 * Which of the waiting requests of this process is sent next. A host that never answers occupies a slot until its timeout, so
 * slots are shared out: each site (registrable domain) may have a part of those that are free, so that no number of sites leaves
 * none for another one, and hosts that are not known to answer quickly have at most half together. The few requests that may be
 * open at one address, which may serve many sites, are shared out likewise. Of the requests that may go, the one goes whose site
 * has the fewest open ones.
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

/**
 * What one site may have open, as a part of the slots that are free. Sites that want all they can get leave slots over: eight of
 * them half of all, sixty a tenth.
 */
const SITE_SHARE = 1 / 8;
/** Part of all slots that requests may have together that take long, or whose host is slow or not known yet. */
const UNPROVEN_SHARE = 1 / 2;
/** What one site, and such requests together, may have open at one address. */
const ADDRESS_SHARE = 1 / 2;

/** An exchange that takes longer makes its host slow ... */
const SLOW_MS = 3_000;
/** ... for this many times as long, so that a host cannot be quick and slow by turns. */
const SLOW_FACTOR = 10;
/** A host that was evicted counts as unknown. */
const MAX_HOSTS = 10_000;

/** Requests that may wait in this process, as multiples of the slots. Each occupies an activity, so others must wait elsewhere. */
export const MAX_WAITING = { unproven: 2, site: 1 / 4, address: 1 / 2, all: 3 };

/** Slots for lookups of names, as a part of the fetch slots: a lookup is quick unless its name server is silent. */
export const LOOKUP_SHARE = 1 / 2;

/** With few slots: pages of one domain may come together after the machine was busy, as many as the window of a domain. */
const MIN_WAITING = 4;

interface Waiting {
  request: FetchSlotRequest;
  /** null: it waits no longer, and gets nothing. */
  end: (slot: FetchSlot | null) => void;
}

export class FetchSlots {
  /** Since when. */
  readonly #open = new Map<FetchSlotRequest, number>();
  readonly #openOfSite = new Counts();
  readonly #openOfAddress = new Counts();
  /** By site and address. */
  readonly #openOfBoth = new Counts();
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
  async acquire(request: FetchSlotRequest, signalOf: () => AbortSignal): Promise<FetchSlot | null> {
    if (this.#mayGo(request, this.#unproven())) return this.#grant(request);
    if (!this.#makeRoom(request)) return null;
    const signal = signalOf();
    signal.throwIfAborted();
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
    const { host, site } = request;
    this.#open.set(request, this.now());
    this.#openOfSite.add(site, 1);
    this.#countAtAddress(request, 1);
    return {
      release: (tookMs) => {
        if (!this.#open.delete(request)) return;
        this.#openOfSite.add(site, -1);
        this.#countAtAddress(request, -1);
        if (tookMs !== null) this.#learn(host, tookMs);
        this.#grantNext();
      },
    };
  }

  #countAtAddress({ site, addressBlock }: FetchSlotRequest, change: 1 | -1): void {
    if (addressBlock === null) return;
    this.#openOfAddress.add(addressBlock, change);
    this.#openOfBoth.add(`${site} ${addressBlock}`, change);
  }

  /** One release may let several go: a host that has become quick no longer counts as unproven. */
  #grantNext(): void {
    for (let next = this.#next(); next !== null; next = this.#next()) {
      next.end(this.#grant(next.request));
    }
  }

  #next(): Waiting | null {
    const unproven = this.#unproven();
    let [next, fewest]: [Waiting | null, number] = [null, Number.POSITIVE_INFINITY];
    for (const waiting of this.#waiting) {
      const open = this.#openOfSite.of(waiting.request.site);
      if (open < fewest && this.#mayGo(waiting.request, unproven)) [next, fewest] = [waiting, open];
    }
    return next;
  }

  #mayGo(request: FetchSlotRequest, unproven: Unproven): boolean {
    const { host, site, concurrency } = request;
    const free = this.slots - this.#open.size;
    if (free <= 0) return false;
    if (this.#openOfSite.of(site) >= Math.max(concurrency, Math.ceil(SITE_SHARE * free))) return false;
    if (!this.#hasRoomAtAddress(request, unproven)) return false;
    return unproven.open < shareOf(UNPROVEN_SHARE, this.slots) || this.#isProven(host);
  }

  /** Other sites may be served at this address too, as at a content delivery network. */
  #hasRoomAtAddress(
    { host, site, concurrency, addressBlock }: FetchSlotRequest,
    unproven: Unproven,
  ): boolean {
    if (addressBlock === null) return true;
    if (this.#openOfAddress.of(addressBlock) >= this.maxOpenPerAddress) return false;
    const share = shareOf(ADDRESS_SHARE, this.maxOpenPerAddress);
    if (this.#openOfBoth.of(`${site} ${addressBlock}`) >= Math.max(concurrency, share)) return false;
    return unproven.atAddress.of(addressBlock) < share || this.#isProven(host);
  }

  /** A host that was quick before may be silent now, so a request that takes long counts, whatever its host. */
  #unproven(): Unproven {
    const quickSince = this.now() - SLOW_MS;
    const unproven: Unproven = { open: 0, atAddress: new Counts() };
    for (const [{ host, addressBlock }, since] of this.#open) {
      if (since >= quickSince && this.#isProven(host)) continue;
      unproven.open += 1;
      if (addressBlock !== null) unproven.atAddress.add(addressBlock, 1);
    }
    return unproven;
  }

  /** Whether the request may wait. If too many do, the last one of the site with the most of them gives way. */
  #makeRoom({ host, site, addressBlock }: FetchSlotRequest): boolean {
    const limit = (multiple: number): number => shareOf(multiple, this.slots);
    const waiting = [...this.#waiting];
    const isProven = this.#isProven(host);
    const rivals = isProven ? waiting : waiting.filter(({ request }) => !this.#isProven(request.host));
    const own = rivals.filter(({ request }) => request.site === site).length;
    if (own >= Math.max(MIN_WAITING, limit(MAX_WAITING.site))) return false;
    const atAddress = waiting.filter(
      ({ request }) => addressBlock !== null && request.addressBlock === addressBlock,
    );
    const isCrowded =
      waiting.length >= limit(MAX_WAITING.all) || (!isProven && rivals.length >= limit(MAX_WAITING.unproven));
    const isAddressCrowded = atAddress.length >= Math.max(MIN_WAITING, limit(MAX_WAITING.address));
    const crowds = [...(isCrowded ? [rivals] : []), ...(isAddressCrowded ? [atAddress] : [])];
    const leaving = crowds.map((crowd) => whoGivesWay(crowd, site));
    if (leaving.includes(null)) return false;
    for (const one of leaving) one?.end(null);
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

/** Requests that take long, or whose host is slow or not known yet. */
interface Unproven {
  open: number;
  atAddress: Counts;
}

function shareOf(part: number, all: number): number {
  return Math.max(1, Math.floor(part * all));
}

/** null: the site that comes has as many waiting as any other. */
function whoGivesWay(crowd: readonly Waiting[], site: string): Waiting | null {
  const sizes = new Map<string, number>();
  for (const { request } of crowd) sizes.set(request.site, (sizes.get(request.site) ?? 0) + 1);
  const most = Math.max(...sizes.values());
  if (most <= (sizes.get(site) ?? 0) + 1) return null;
  return crowd.findLast(({ request }) => sizes.get(request.site) === most) ?? null;
}

class Counts {
  readonly #counts = new Map<string, number>();

  of(key: string): number {
    return this.#counts.get(key) ?? 0;
  }

  /** What has none is not kept. */
  add(key: string, change: number): void {
    const count = this.of(key) + change;
    if (count === 0) this.#counts.delete(key);
    else this.#counts.set(key, count);
  }
}
