/** The steps that workflows are made of, each a thin shell around src/. */
import { makeAcquireSlot } from './acquire-slot.ts';
import { makeCrawlSteps } from './crawl-steps.ts';
import type { Deps } from './deps.ts';
import { makeDigestPage } from './digest-page.ts';
import { makeFetchPage } from './fetch-page.ts';
import { makeMissRobots } from './miss-robots.ts';
import { makeNoteRequest } from './note-request.ts';
import { makeParsePage } from './parse-page.ts';
import { makePersistPage } from './persist-page.ts';
import { makeReadSitemap } from './read-sitemap.ts';
import { makeThrottleSteps } from './throttle-steps.ts';

export type { OpenedCrawl, SweepResult } from './crawl-steps.ts';
export type { Deps } from './deps.ts';
export type { FetchResult, Unreported } from './fetch-page.ts';
export type { ParseInput } from './parse-page.ts';
export type { AttemptEvent, PersistInput, PersistResult } from './persist-page.ts';

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
