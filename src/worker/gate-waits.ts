/** Fetches of this process that wait until a request to their domain has ended. Those of other processes are noticed by polling. */
import { setTimeout as delay } from 'node:timers/promises';

/** How often the database is asked whether a request of another process has ended. */
const POLL_INTERVAL_MS = 250;

export class GateWaits {
  readonly #waiting = new Map<string, AbortController>();

  /** Returns when a request to the domain has ended, or after a while. */
  async wait(domain: string, signal: AbortSignal): Promise<void> {
    const woken = this.#waiting.get(domain) ?? new AbortController();
    this.#waiting.set(domain, woken);
    try {
      await delay(POLL_INTERVAL_MS, undefined, { signal: AbortSignal.any([signal, woken.signal]) });
    } catch (error) {
      if (signal.aborted) throw error;
    }
  }

  wake(domain: string): void {
    this.#waiting.get(domain)?.abort();
    this.#waiting.delete(domain);
  }
}
