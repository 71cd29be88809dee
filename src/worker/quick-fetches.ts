/** Fetches within workflow tasks of this process, those that still wait for their slots included. */

/**
 * Each occupies a workflow task (MAX_PAGE_TASKS in worker.ts) until its end. A site that was quick and suddenly is not must leave room
 * for the others.
 */
const MAX_OPEN = 200;

/** So that those that have slept until shortly before their slot find room. */
const MAX_STAYING = 150;

export class QuickFetches {
  #open = 0;
  readonly #stopping = new AbortController();

  /** Whether one more page may stay in its workflow task until its slot. */
  get hasRoom(): boolean {
    return this.#open < MAX_STAYING && !this.stopping.aborted;
  }

  /** Aborted when the worker stops: a page that waits continues in a worker that does not. */
  get stopping(): AbortSignal {
    return this.#stopping.signal;
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
    this.#stopping.abort();
  }
}
