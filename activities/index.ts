/** The activities, each a thin shell around src/. Their contract with the workflows is src/core/activities.ts. */
import type { Activities, ThrottleActivities } from '../src/core/activities.ts';
import { openDomain, saveDomain } from '../src/storage/domains.ts';
import { createCrawlSteps } from './crawl.ts';
import type { Deps } from './deps.ts';
import { createFetchAndRecord } from './fetch/fetch-and-record.ts';
import { createFetchPage } from './fetch/fetch-page.ts';
import { createRecordRobotsUnavailable } from './fetch/robots-unavailable.ts';
import { createPersistPage, createRecordRequest } from './process/persist-page.ts';
import { createProcessPage } from './process/process-page.ts';
import { createReadSitemap } from './process/read-sitemap.ts';
import { createAcquireSlot, createReleaseSlot } from './slot/acquire-slot.ts';

export type { Deps } from './deps.ts';

type Fetches = 'fetchPage' | 'fetchAndRecord';

export interface ActivitiesByQueue {
  /** On the task queue `amble`. */
  fetches: Pick<Activities, Fetches>;
  /** On `amble-step`, or as local activities within a workflow task. */
  steps: Omit<Activities, Fetches>;
  /** On `amble-throttle`. */
  throttles: ThrottleActivities;
}

export function createActivities(deps: Deps): ActivitiesByQueue {
  return {
    fetches: { fetchPage: createFetchPage(deps), fetchAndRecord: createFetchAndRecord(deps) },
    steps: {
      acquireSlot: createAcquireSlot(deps),
      releaseSlot: createReleaseSlot(deps),
      persistPage: createPersistPage(deps),
      processPage: createProcessPage(deps),
      readSitemap: createReadSitemap(deps),
      recordRequest: createRecordRequest(deps),
      recordRobotsUnavailable: createRecordRobotsUnavailable(deps),
      ...createCrawlSteps(deps),
    },
    throttles: {
      openDomain: ({ domain }) => openDomain(deps.db, domain),
      saveDomain: ({ domain, epoch, stored, orders }) => saveDomain(deps.db, domain, epoch, stored, orders),
    },
  };
}
