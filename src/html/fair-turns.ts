/**
 * One task at a time, and the sites take turns: the next task is one of the waiting site that has used the least time recently.
 * A site with documents that are slow to parse holds up its own ones, not those of others. What waits holds a place in which something
 * else could be done, so few may wait, and the others have to come again.
 */
import { LRUCache } from 'lru-cache';

/** Used time counts half after this: a few minutes later a site whose documents were slow is like any other. */
const HALF_LIFE_MS = 60_000;

/** More turns than fit into the five minutes after which 30 s count less than one. */
const MAX_SITES = 10_000;

/**
 * Tasks that may wait. Each occupies one of the hundred places for steps of pages (Temporal's default), of which most must be left for
 * steps that are quick.
 */
export const MAX_WAITING_DOCUMENTS = { site: 8, all: 40 };

/** When it is decided who gives way, each waiting task counts as this much time. */
const EXPECTED_MS = 1_000;

/** Too many wait already. Later there may be room. */
export class TooManyWaitingError extends Error {
  override name = 'TooManyWaitingError';
}

/** The order of waiting items, without a clock. */
export class TurnOrder<T> {
  /** Each site's items in the order they came. The site that waits longest is first. */
  readonly #waiting = new Map<string, Set<T>>();
  #size = 0;
  readonly #used = new LRUCache<string, { ms: number; at: number }>({ max: MAX_SITES });

  add(site: string, item: T): void {
    const items = this.#waiting.get(site) ?? new Set();
    this.#waiting.set(site, items.add(item));
    this.#size += 1;
  }

  remove(site: string, item: T): void {
    const items = this.#waiting.get(site);
    if (items?.delete(item)) this.#size -= 1;
    if (items?.size === 0) this.#waiting.delete(site);
  }

  /** Removes the item whose turn it is. undefined: none waits. */
  next(now: number): T | undefined {
    const sites = [...this.#waiting.keys()].map((site) => ({ site, usedMs: this.usedMs(site, now) }));
    const [first, ...others] = sites;
    if (first === undefined) return undefined;
    const { site } = others.reduce((least, other) => (other.usedMs < least.usedMs ? other : least), first);
    const [item] = this.#waiting.get(site) ?? [];
    if (item !== undefined) this.remove(site, item);
    return item;
  }

  /**
   * Whether one more of the site may wait. If too many do, the last one of the site gives way that has used, and will use, the most
   * time: it is removed and returned.
   */
  makeRoom(site: string, now: number): { ok: false } | { ok: true; givesWay: T | undefined } {
    const own = this.#waiting.get(site)?.size ?? 0;
    if (own >= MAX_WAITING_DOCUMENTS.site) return { ok: false };
    if (this.#size < MAX_WAITING_DOCUMENTS.all) return { ok: true, givesWay: undefined };
    const sites = [...this.#waiting].map(([other, items]) => ({
      ...{ other, items },
      ms: this.usedMs(other, now) + items.size * EXPECTED_MS,
    }));
    const most = sites.reduce((largest, next) => (next.ms > largest.ms ? next : largest));
    if (most.ms <= this.usedMs(site, now) + (own + 1) * EXPECTED_MS) return { ok: false };
    const givesWay = [...most.items].at(-1);
    if (givesWay !== undefined) this.remove(most.other, givesWay);
    return { ok: true, givesWay };
  }

  charge(site: string, ms: number, now: number): void {
    this.#used.set(site, { ms: this.usedMs(site, now) + ms, at: now });
  }

  usedMs(site: string, now: number): number {
    const used = this.#used.get(site);
    return used === undefined ? 0 : used.ms * 0.5 ** ((now - used.at) / HALF_LIFE_MS);
  }
}

export type FairTurns = <T>(
  site: string,
  task: () => Promise<T>,
  /** Removes the task while it waits. Once it runs, the task itself has to obey its signal. */
  signal?: AbortSignal,
) => Promise<T>;

interface Waiting {
  start: () => void;
  refuse: () => void;
}

/** Rejects with a `TooManyWaitingError` if a task cannot wait, or has to give way. */
export function createFairTurns(now = () => performance.now()): FairTurns {
  const order = new TurnOrder<Waiting>();
  let isBusy = false;
  return async (site, task, signal) => {
    signal?.throwIfAborted();
    if (isBusy) await waitForTurn(order, { site, signal, now: now() });
    isBusy = true;
    const startedAt = now();
    try {
      return await task();
    } finally {
      order.charge(site, now() - startedAt, now());
      const next = order.next(now());
      // The next task takes over, so that no newcomer comes between.
      if (next !== undefined) next.start();
      else isBusy = false;
    }
  };
}

async function waitForTurn(
  order: TurnOrder<Waiting>,
  { site, signal, now }: { site: string; signal: AbortSignal | undefined; now: number },
): Promise<void> {
  const room = order.makeRoom(site, now);
  if (!room.ok) throw new TooManyWaitingError(`Too many documents wait to be parsed, of ${site} or in all.`);
  room.givesWay?.refuse();
  await new Promise<void>((resolve, reject) => {
    const abort = (): void => {
      order.remove(site, waiting);
      reject(signal?.reason);
    };
    const end = (settle: () => void) => () => {
      signal?.removeEventListener('abort', abort);
      settle();
    };
    const waiting: Waiting = {
      start: end(resolve),
      refuse: end(() => reject(new TooManyWaitingError('Documents of sites that need less time go first.'))),
    };
    order.add(site, waiting);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
