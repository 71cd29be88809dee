/**
 * Every message between workflows, activities and people, defined once. Activities, the command line and tests send them by
 * these definitions; operators by their names, with the stock Temporal CLI.
 */
import { ApplicationFailure } from '@temporalio/common';
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { CrawlStatus } from '../src/core/outcome.ts';
import type { RobotsHop } from '../src/core/page-input.ts';
import type { Ask, DelayRange, Lease, Release, RequestStart, SlotAnswer } from '../src/core/slot-protocol.ts';
import type { QueuePosition } from '../src/throttle/queue-position.ts';
import type { ThrottleView } from '../src/throttle/view.ts';

// To DomainThrottle. An update, because the page needs an answer at once: a lease, a position in the queue, or neither.
// The nonce comes back with the answer: a repeated update gets the recorded answer, whose `now` is old.
export const acquireUpdate = defineUpdate<SlotAnswer & { nonce: string }, [Ask, string]>('acquire');
// Signals, because they report what has happened and need no answer.
export const releaseSignal = defineSignal<[Release]>('release');
export const startedSignal = defineSignal<[{ leaseId: string } & RequestStart]>('started');
export const withdrawSignal = defineSignal<[{ ticket: string }]>('withdraw');
// For operators: updates, because a bad value must come back with the reason.
export const pauseUpdate = defineUpdate<ThrottleView, []>('pause');
export const resumeUpdate = defineUpdate<ThrottleView, []>('resume');
// A duration or range as people write it ("30s", "5s-15s"), or null for none.
export const setDelayUpdate = defineUpdate<ThrottleView, [string | DelayRange | null]>('setDelay');
export const resetUpdate = defineUpdate<ThrottleView, []>('reset');
export const stateQuery = defineQuery<ThrottleView>('state');
// The position of the page with this workflow id.
export const positionQuery = defineQuery<QueuePosition, [string]>('position');

// To CrawlPage.
export const grantedSignal = defineSignal<[Lease]>('granted');
// The redirected robots.txt that the page waits for, possibly in another domain's queue; null: none.
export const robotsHopQuery = defineQuery<RobotsHop | null>('robotsHop');

// To Crawl. "Sweep now": from a page that ended and found nothing else in progress.
export const sweepSignal = defineSignal('sweep');
export const progressQuery = defineQuery<CrawlProgress>('progress');
// For operators, named as on the throttle: updates, because a crawl that has ended must refuse them.
export const pauseCrawlUpdate = defineUpdate<CrawlProgress, []>('pause');
export const resumeCrawlUpdate = defineUpdate<CrawlProgress, []>('resume');
export const cancelCrawlUpdate = defineUpdate<CrawlProgress, []>('cancel');

/** What an operator can set an open crawl to. */
export type RequestedStatus = Extract<CrawlStatus, 'Running' | 'Paused' | 'Cancelling'>;

/** The answer to `progress`: the counts of the last sweep. */
export interface CrawlProgress {
  crawlId: string;
  /** As last requested; pages in progress follow at their next slot. */
  status: CrawlStatus;
  /** Pages by status. */
  pages: Record<string, number>;
  found: number;
  /** When the counts were taken, ISO 8601; null: not yet. */
  asOf: string | null;
}

/** Whether a signal failed because the workflow it was sent to has ended. */
export function isReceiverGone(error: unknown): boolean {
  return error instanceof ApplicationFailure && error.type === 'ExternalWorkflowExecutionNotFound';
}
