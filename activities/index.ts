/** The steps that workflows are made of, each a thin shell around src/. */

import { makeCrawlSteps } from './crawl.ts';
import type { Deps } from './deps.ts';
import { makeFetchPage } from './fetch/fetch-page.ts';
import { makeNoteRequest } from './fetch/record-request.ts';
import { makeMissRobots } from './fetch/robots-unavailable.ts';
import { makeParsePage } from './process/parse-page.ts';
import { makePersistPage } from './process/persist-page.ts';
import { makeDigestPage } from './process/process-page.ts';
import { makeReadSitemap } from './process/read-sitemap.ts';
import { makeAcquireSlot } from './slot/acquire-slot.ts';
import { makeThrottleSteps } from './throttle.ts';

export type { OpenedCrawl, SweepResult } from './crawl.ts';
export type { Deps } from './deps.ts';
export type { FetchResult, Unreported } from './fetch/fetch-page.ts';
export type { ParseInput } from './process/parse-page.ts';
export type { AttemptEvent, PersistInput, PersistResult } from './process/persist-page.ts';

/** `fetches` run on the queue `amble`, `throttles` on `amble-throttle`; `steps` on `amble-step`, or within a workflow's task. */
export function makeActivities(deps: Deps) {
  return {
    steps: {
      acquireSlot: makeAcquireSlot(deps),
      digestPage: makeDigestPage(deps),
      missRobots: makeMissRobots(deps),
      noteRequest: makeNoteRequest(deps),
      parsePage: makeParsePage(deps),
      persistPage: makePersistPage(deps),
      readSitemap: makeReadSitemap(deps),
      ...makeCrawlSteps(deps),
    },
    fetches: { fetchPage: makeFetchPage(deps) },
    throttles: makeThrottleSteps(deps),
  };
}

type Made = ReturnType<typeof makeActivities>;
export type Activities = Made['steps'] & Made['fetches'];
export type ThrottleActivities = Made['throttles'];
