/**
 * What the throttles of many domains say, without asking each of them for each page that is shown: an answer costs a workflow task,
 * and a worker that is busy crawling may take seconds to give it.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import { LRUCache } from 'lru-cache';
import type { ThrottleView } from '../throttle/view.ts';

/** Asks the throttles that are running, and calls `onView` with each answer. null: Temporal is unavailable. */
export type AskThrottles = (
  domains: readonly string[],
  onView: (domain: string, view: ThrottleView) => void,
) => Promise<ReadonlyMap<string, ThrottleView> | null>;

/** A throttle is not asked again for this long, however many pages are open. */
const FRESH_MS = 5_000;

/** An older answer says less than the row of the domain. */
const MAX_AGE_MS = 30_000;

/** A page waits this long for answers. Later ones are shown by the next page. */
const PATIENCE_MS = 150;

const MAX_VIEWS = 5_000;

export class ThrottleViews {
  readonly #views = new LRUCache<string, { view: ThrottleView | null; at: number }>({
    max: MAX_VIEWS,
    ttl: MAX_AGE_MS,
  });
  #asking: Promise<unknown> | null = null;

  /** By domain; null: its throttle is not running. One without an answer is not among them. */
  async read(domains: readonly string[], ask: AskThrottles): Promise<Map<string, ThrottleView | null>> {
    const now = Date.now();
    const old = domains.filter((domain) => now - (this.#views.get(domain)?.at ?? 0) > FRESH_MS);
    if (old.length > 0) {
      this.#asking ??= this.#refresh(old, ask).finally(() => {
        this.#asking = null;
      });
      await Promise.race([this.#asking, sleep(PATIENCE_MS)]);
    }
    return new Map(
      domains.flatMap((domain) => {
        const view = this.#views.get(domain)?.view;
        return view === undefined ? [] : [[domain, view] as const];
      }),
    );
  }

  /** An order has changed it: what it said before is wrong. */
  forget(domain: string): void {
    this.#views.delete(domain);
  }

  async #refresh(domains: readonly string[], ask: AskThrottles): Promise<void> {
    const keep = (domain: string, view: ThrottleView | null) =>
      this.#views.set(domain, { view, at: Date.now() });
    // The page shows what the rows say.
    const answered = await ask(domains, keep).catch(() => null);
    for (const domain of domains) if (answered !== null && !answered.has(domain)) keep(domain, null);
  }
}
