/**
 * Every message between workflows, activities and people, defined once. Activities, the command line and tests send them by
 * these definitions; operators by their names, with the stock Temporal CLI.
 */
import { defineQuery, defineSignal, defineUpdate } from '@temporalio/workflow';
import type { OrderOrigin } from '../src/core/order.ts';
import type { CrawlStatus } from '../src/core/outcome.ts';
import type { RobotsHop } from '../src/core/page-input.ts';
import type { Ask, DelayRange, Release, SlotAnswer } from '../src/core/slot-protocol.ts';
import type { PageSlot, ThrottleView } from '../src/throttle/view.ts';

// To DomainThrottle. An update, because a page needs an answer at once: a slot, or when to ask again. Pages that are admitted together
// are asked for together, and answered in the same order. It brings the reports of earlier requests along.
export const acquireUpdate = defineUpdate<SlotAnswer[], [Ask[], Release[]]>('acquire');
// A signal, because it reports what has happened and needs no answer. For reports that are urgent, or that no ask brought along.
export const releaseSignal = defineSignal<[Release[]]>('release');
// For operators: updates, because a bad value must come back with the reason. Without an origin, the channel is `temporal`.
export const pauseUpdate = defineUpdate<ThrottleView, [OrderOrigin | null]>('pause');
export const resumeUpdate = defineUpdate<ThrottleView, [OrderOrigin | null]>('resume');
// A duration or range as people write it ("30s", "5s-15s"), or null for none.
export const setDelayUpdate = defineUpdate<ThrottleView, [string | DelayRange | null, OrderOrigin | null]>(
  'setDelay',
);
export const resetUpdate = defineUpdate<ThrottleView, [OrderOrigin | null]>('reset');
export const stateQuery = defineQuery<ThrottleView>('state');
// The slot of the page with this workflow id.
export const slotQuery = defineQuery<PageSlot, [string]>('slot');

// To CrawlPage.
// An operator has changed its domain: the slot it waits for was taken back, or an earlier one may be free.
export const askAgainSignal = defineSignal('askAgain');
// The redirected robots.txt that the page waits for, possibly of another domain; null: none.
export const robotsHopQuery = defineQuery<RobotsHop | null>('robotsHop');

// To Crawl. "Sweep now": from a page that ended and found nothing else in progress.
export const sweepSignal = defineSignal('sweep');
export const progressQuery = defineQuery<CrawlProgress>('progress');
// For operators, named as on the throttle: updates, because a crawl that has ended must refuse them.
export const pauseCrawlUpdate = defineUpdate<CrawlProgress, [OrderOrigin | null]>('pause');
export const resumeCrawlUpdate = defineUpdate<CrawlProgress, [OrderOrigin | null]>('resume');
export const cancelCrawlUpdate = defineUpdate<CrawlProgress, [OrderOrigin | null]>('cancel');

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
