/** The steps of the DomainThrottle workflow: what it learned goes to the `domains` table and comes back from it. */
import { openDomain as open, saveDomain as save } from '../src/storage/domains.ts';
import type { StoredDomain } from '../workflows/throttle/types.ts';
import type { Deps } from './deps.ts';

export function makeThrottleSteps({ db }: Pick<Deps, 'db'>) {
  return {
    openDomain: ({ domain }: { domain: string }): Promise<StoredDomain | null> => open(db, domain),
    saveDomain: ({ domain, stored }: { domain: string; stored: StoredDomain }): Promise<void> =>
      save(db, domain, stored),
  };
}
