/** The last request that this process sent to each domain: from one of its own it can measure a gap without anybody's clock. */
import type { LocalRequestStart } from './server-clock.ts';

/** Domains remembered. One that is forgotten has its next gap measured by the throttle's clock, as by any other process. */
const MOST_DOMAINS = 10_000;

export class LocalRequestStarts {
  #last = new Map<string, LocalRequestStart & { leaseId: string }>();

  record(domain: string, leaseId: string, start: LocalRequestStart): void {
    this.#last.delete(domain);
    this.#last.set(domain, { ...start, leaseId });
    const [oldest] = this.#last.keys();
    if (this.#last.size > MOST_DOMAINS && oldest !== undefined) this.#last.delete(oldest);
  }

  /** null: the last one to this domain was another, or this process never sent that. */
  get(domain: string, leaseId: string | undefined): LocalRequestStart | null {
    const last = this.#last.get(domain);
    return last !== undefined && last.leaseId === leaseId ? last : null;
  }
}
