/**
 * Requests that wait for a connection, by origin. A connection is made only while a request waits for one: after an aborted
 * request undici would connect again, for the request that is still in its queue, and the site would see two connections where
 * one is allowed per gap.
 */

/** One request, from its dispatch until it starts or fails. */
export interface PendingDispatch {
  /** A connection to its origin was made in the meantime, for it or for another pending request. */
  connected: boolean;
}

export class PendingDispatches {
  readonly #byOrigin = new Map<string, Set<PendingDispatch>>();

  add(origin: string): PendingDispatch {
    const dispatch = { connected: false };
    const dispatches = this.#byOrigin.get(origin) ?? new Set();
    this.#byOrigin.set(origin, dispatches.add(dispatch));
    return dispatch;
  }

  remove(origin: string, dispatch: PendingDispatch): void {
    const dispatches = this.#byOrigin.get(origin);
    dispatches?.delete(dispatch);
    if (dispatches?.size === 0) this.#byOrigin.delete(origin);
  }

  has(origin: string): boolean {
    return this.#byOrigin.has(origin);
  }

  markConnected(origin: string): void {
    for (const dispatch of this.#byOrigin.get(origin) ?? []) dispatch.connected = true;
  }
}
