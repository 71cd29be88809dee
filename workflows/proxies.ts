/**
 * The activities as workflows call them: how long each may take and how it is retried, and why. Where an option depends on
 * the page it is given at the call.
 */
import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, ThrottleActivities } from '../activities/index.ts';
import { stepQueue } from './ids.ts';

/** Trouble of our own (a database away) is waited out without limit; it never ends a page. */
const patiently = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' } as const;

/**
 * Never retried by Temporal: every attempt needs a slot of its own. On cancellation the page waits for the fetch to end,
 * so that the lease is reported by the one who knows whether it was used.
 */
export const { fetchPage } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Asking, parsing and persisting are local: that saves five events each. For five seconds at most: one that retries for
 * longer would pin a workflow-task slot while the database is away.
 */
const soon = {
  scheduleToCloseTimeout: '5s',
  retry: { initialInterval: '100ms', maximumInterval: '1s' },
} as const;
export const local = proxyLocalActivities<Activities>(soon);
/**
 * Called with `apart`. Without heartbeats a step that its worker took along when it was killed would be missed only after
 * two minutes.
 */
export const regular = proxyActivities<Activities>({
  startToCloseTimeout: '2m',
  heartbeatTimeout: '10s',
  retry: patiently,
});

/**
 * Always regular and apart, unlike parsing: there are few sitemaps, and the largest takes its time. Run again it begins anew, and adds
 * nothing that is there already.
 */
export const { readSitemap } = proxyActivities<Activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '1m',
  retry: patiently,
});

/** How a regular step is called: not on the queue of the fetches. */
export function apart(summary: string): { summary: string; taskQueue: string } {
  return { summary, taskQueue: stepQueue(workflowInfo().taskQueue) };
}

export const throttle = proxyActivities<ThrottleActivities>({ startToCloseTimeout: '30s', retry: patiently });
