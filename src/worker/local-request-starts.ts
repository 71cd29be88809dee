/** The last request that this process sent to each domain. From its own requests it can measure a gap without the server's clock. */
import { LRUCache } from 'lru-cache';
import type { LocalRequestStart } from './server-clock.ts';

/** The next gap of a domain that was evicted is kept by the server's clock, as in any other process. */
const MAX_DOMAINS = 10_000;

export class LocalRequestStarts {
  #last = new LRUCache<string, LocalRequestStart & { leaseId: string }>({ max: MAX_DOMAINS });

  record(domain: string, leaseId: string, start: LocalRequestStart): void {
    this.#last.set(domain, { ...start, leaseId });
  }

  /** null: this process did not send that request, or it has sent another one to the domain since. */
  get(domain: string, leaseId: string | undefined): LocalRequestStart | null {
    const last = this.#last.get(domain);
    return last !== undefined && last.leaseId === leaseId ? last : null;
  }
}
