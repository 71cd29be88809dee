/** The steps of the DomainThrottle workflow: its state is persisted in the `domains` table and read back from there. */
import type { ThrottleActivities } from '../src/core/activities.ts';
import { openDomain, saveDomain } from '../src/storage/domains.ts';
import type { Deps } from './deps.ts';

export function createThrottleSteps({ db }: Pick<Deps, 'db'>): ThrottleActivities {
  return {
    openDomain: ({ domain, bounds }) => openDomain(db, domain, bounds),
    saveDomain: ({ domain, epoch, stored }) => saveDomain(db, domain, epoch, stored),
  };
}
