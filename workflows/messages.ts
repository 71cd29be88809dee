/**
 * Who says what to whom. Updates and signals are defined here and nowhere else: activities, the command line and tests
 * send them by these definitions, people by their names with the stock Temporal CLI.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { RobotsHop } from '../src/core/page-input.ts';
import type { Ask, DelayRange, Lease, Release, RequestStart, SlotAnswer } from '../src/core/slot-protocol.ts';
import type { QueuePosition } from '../src/throttle/queue-position.ts';
import type { ThrottleView } from '../src/throttle/view.ts';

// To DomainThrottle. An update, because the page needs an answer at once: slot, place in line, or neither.
// The nonce comes back with the answer: a repeated update gets the recorded answer, whose `now` is old.
export const acquireUpdate = defineUpdate<SlotAnswer & { nonce: string }, [Ask, string]>('acquire');
// Signals, because nobody waits for the throttle to agree with what has happened.
export const releaseSignal = defineSignal<[Release]>('release');
export const startedSignal = defineSignal<[{ leaseId: string } & RequestStart]>('started');
export const withdrawSignal = defineSignal<[{ ticket: string }]>('withdraw');
// For operators: updates, because a bad value must come back with its reason.
export const pauseUpdate = defineUpdate<ThrottleView, []>('pause');
export const resumeUpdate = defineUpdate<ThrottleView, []>('resume');
// A duration or range as people write it ("30s", "5s-15s"), or null for none.
export const setDelayUpdate = defineUpdate<ThrottleView, [string | DelayRange | null]>('setDelay');
export const resetUpdate = defineUpdate<ThrottleView, []>('reset');
export const stateQuery = defineQuery<ThrottleView>('state');
// Where the page of this workflow id stands.
export const positionQuery = defineQuery<QueuePosition, [string]>('position');

// To CrawlPage.
export const grantedSignal = defineSignal<[Lease]>('granted');
// The robots.txt it wants first, where that was redirected, maybe to another domain's line; null: none.
export const robotsHopQuery = defineQuery<RobotsHop | null>('robotsHop');

// To Crawl: "look now", sent by a page that found nothing else open. Never sent by every page.
export const sweepSignal = defineSignal('sweep');
export const progressQuery = defineQuery<CrawlProgress>('progress');
// For operators, under the names the throttle has for the same: updates, because a crawl that is over must say so.
export const pauseCrawlUpdate = defineUpdate<CrawlProgress, []>('pause');
export const resumeCrawlUpdate = defineUpdate<CrawlProgress, []>('resume');
export const cancelCrawlUpdate = defineUpdate<CrawlProgress, []>('cancel');

/** What an operator can make of an open crawl. */
export type SteeredStatus = 'Running' | 'Paused' | 'Cancelling';

/** What the `progress` query answers: the counts of the last look at the database. */
export interface CrawlProgress {
  crawlId: string;
  /** As it was last told to be; the pages follow when their turn comes. */
  status: SteeredStatus | 'Completed' | 'Cancelled' | 'Failed';
  /** Pages by status. */
  pages: Record<string, number>;
  found: number;
  /** When the counts were taken, ISO 8601. */
  asOf: string | null;
}
