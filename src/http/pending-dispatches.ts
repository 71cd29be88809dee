/**
 * Who waits for a connection, by origin. Only for them one is made: after a request that was broken off undici makes another, for the
 * request that is in its queue still, and would have the site see two connections where it may see one a gap.
 */

/** Of one request, from its dispatch until it starts or fails. */
export interface PendingDispatch {
  /** A connection to its origin was made meanwhile: for it, or for another that waited for one as well. */
  connected: boolean;
}

export class PendingDispatches {
  readonly #waits = new Map<string, Set<PendingDispatch>>();

  add(origin: string): PendingDispatch {
    const wait = { connected: false };
    const waits = this.#waits.get(origin) ?? new Set();
    this.#waits.set(origin, waits.add(wait));
    return wait;
  }

  remove(origin: string, wait: PendingDispatch): void {
    const waits = this.#waits.get(origin);
    waits?.delete(wait);
    if (waits?.size === 0) this.#waits.delete(origin);
  }

  has(origin: string): boolean {
    return this.#waits.has(origin);
  }

  connected(origin: string): void {
    for (const wait of this.#waits.get(origin) ?? []) wait.connected = true;
  }
}
