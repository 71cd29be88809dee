/** Fetches within workflow tasks of this process, those that still wait for their slots included. */
import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Each occupies a workflow task (MAX_PAGE_TASKS in worker.ts) until its end. A site that was quick and suddenly is not must leave room
 * for the others.
 */
const MAX_OPEN = 200;

/** So that those that have slept until shortly before their slot find room. */
const MAX_STAYING = 150;

export class QuickFetches {
  #open = 0;
  #isStopping = false;
  /** Ends the waits of pages that stay. */
  readonly #waiting = new Set<() => void>();

  /** Whether one more page may stay in its workflow task until its slot. */
  get hasRoom(): boolean {
    return this.#open < MAX_STAYING && !this.#isStopping;
  }

  /**
   * Waits. false: the worker stops, and the page continues in a worker that does not. Without a signal of the worker: Node 20 keeps what
   * AbortSignal.any makes of a signal for as long as that signal lives.
   */
  async wait(ms: number, cancelled: AbortSignal): Promise<boolean> {
    const waiting = new AbortController();
    const end = (): void => waiting.abort();
    this.#waiting.add(end);
    cancelled.addEventListener('abort', end, { once: true });
    try {
      if (this.#isStopping || cancelled.aborted) end();
      return await sleep(ms, true, { signal: waiting.signal }).catch(() => false);
    } finally {
      this.#waiting.delete(end);
      cancelled.removeEventListener('abort', end);
      cancelled.throwIfAborted();
    }
  }

  /** Returns false if there are too many. */
  begin(): boolean {
    if (this.#open >= MAX_OPEN) return false;
    this.#open += 1;
    return true;
  }

  end(): void {
    this.#open -= 1;
  }

  stop(): void {
    this.#isStopping = true;
    for (const end of this.#waiting) end();
  }
}
