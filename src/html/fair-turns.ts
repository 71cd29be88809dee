/**
 * One task at a time, and the sites take turns: the next task is one of the waiting site that has used the least time recently.
 * A site with documents that are slow to parse holds up its own ones, not those of others.
 */
import { LRUCache } from 'lru-cache';

/** Used time counts half after this: a few minutes later a site whose documents were slow is like any other. */
const HALF_LIFE_MS = 60_000;

/** More turns than fit into the five minutes after which 30 s count less than one. */
const MAX_SITES = 10_000;

/** The order of waiting items, without a clock. */
export class TurnOrder<T> {
  /** Each site's items in the order they came. The site that waits longest is first. */
  readonly #waiting = new Map<string, Set<T>>();
  readonly #used = new LRUCache<string, { ms: number; at: number }>({ max: MAX_SITES });

  add(site: string, item: T): void {
    const items = this.#waiting.get(site) ?? new Set();
    this.#waiting.set(site, items.add(item));
  }

  remove(site: string, item: T): void {
    const items = this.#waiting.get(site);
    items?.delete(item);
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

export function createFairTurns(now = () => performance.now()): FairTurns {
  const order = new TurnOrder<() => void>();
  let isBusy = false;
  return async (site, task, signal) => {
    signal?.throwIfAborted();
    if (isBusy) await waitForTurn(order, site, signal);
    isBusy = true;
    const startedAt = now();
    try {
      return await task();
    } finally {
      order.charge(site, now() - startedAt, now());
      const start = order.next(now());
      // The next task takes over, so that no newcomer comes between.
      if (start !== undefined) start();
      else isBusy = false;
    }
  };
}

function waitForTurn(
  order: TurnOrder<() => void>,
  site: string,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const abort = (): void => {
      order.remove(site, start);
      reject(signal?.reason);
    };
    const start = (): void => {
      signal?.removeEventListener('abort', abort);
      resolve();
    };
    order.add(site, start);
    signal?.addEventListener('abort', abort, { once: true });
  });
}
