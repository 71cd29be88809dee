/** The steps of the DomainThrottle workflow: what it learned goes to the `domains` table and comes back from it. */

import type { OpenedDomain, PersistedBounds, StoredDomain } from '../src/core/slot-protocol.ts';
import { openDomain as open, saveDomain as save } from '../src/storage/domains.ts';
import type { Deps } from './deps.ts';

export function makeThrottleSteps({ db }: Pick<Deps, 'db'>) {
  return {
    openDomain: ({ domain, bounds }: { domain: string; bounds: PersistedBounds }): Promise<OpenedDomain> =>
      open(db, domain, bounds),
    saveDomain: ({
      domain,
      epoch,
      stored,
    }: {
      domain: string;
      epoch: number;
      stored: StoredDomain;
    }): Promise<void> => save(db, domain, epoch, stored),
  };
}
