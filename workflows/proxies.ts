/**
 * The activities as workflows call them: how long each may take and how it is retried, and why. Options that depend on the
 * page are given at the call.
 */
import {
  ActivityCancellationType,
  proxyActivities,
  proxyLocalActivities,
  workflowInfo,
} from '@temporalio/workflow';
import type { Activities, ThrottleActivities } from '../src/core/activities.ts';
import { stepQueue } from './ids.ts';

/** An outage on our side (the database is unavailable) is waited out without limit; it never ends a page. */
const RETRY_FOREVER = { initialInterval: '200ms', backoffCoefficient: 2, maximumInterval: '10s' } as const;

/**
 * Most steps are local activities, which saves five events each. For five seconds at most: one that retries for longer
 * would pin a workflow task slot while the database is unavailable.
 */
const LOCAL_STEP = {
  scheduleToCloseTimeout: '5s',
  retry: { initialInterval: '100ms', maximumInterval: '1s' },
} as const;

/** The heartbeat detects a killed worker; without it the step would be missed only after two minutes. */
const REGULAR_STEP = { startToCloseTimeout: '2m', heartbeatTimeout: '10s', retry: RETRY_FOREVER } as const;

/** A proxy that can be called with a step's name in a variable: see run-step.ts. */
type StepProxy<Options> = {
  [S in keyof Activities]: {
    executeWithOptions(options: Options, args: Parameters<Activities[S]>): ReturnType<Activities[S]>;
  };
};

export const localSteps: StepProxy<{ summary: string }> = proxyLocalActivities<Activities>(LOCAL_STEP);
export const regularSteps: StepProxy<{ summary: string; taskQueue: string }> =
  proxyActivities<Activities>(REGULAR_STEP);

/**
 * Temporal never retries it: every attempt needs a slot of its own. When the page is cancelled it waits for the fetch to
 * end, because only the fetch knows whether it used the lease, and reports that.
 */
export const { fetchPage } = proxyActivities<Activities>({
  startToCloseTimeout: '5m',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Within the workflow task. If it takes long, the worker extends the task. A task that is lost with its worker is repeated, this
 * activity too, and its lease is spent then.
 */
export const { fetchAndRecord } = proxyLocalActivities<Activities>({
  startToCloseTimeout: '5m',
  retry: { maximumAttempts: 1 },
  cancellationType: ActivityCancellationType.WAIT_CANCELLATION_COMPLETED,
});

/**
 * Always a regular activity: there are few sitemaps, and the largest takes minutes. A retry starts from the beginning and
 * adds only what is missing.
 */
export const { readSitemap } = proxyActivities<Activities>({
  startToCloseTimeout: '10m',
  heartbeatTimeout: '1m',
  retry: RETRY_FOREVER,
});

/** Regular steps have a task queue of their own, so that none waits behind a slow fetch. */
export function onStepQueue(summary: string): { summary: string; taskQueue: string } {
  return { summary, taskQueue: stepQueue(workflowInfo().taskQueue) };
}

export const throttleSteps = proxyActivities<ThrottleActivities>({
  startToCloseTimeout: '30s',
  retry: RETRY_FOREVER,
});
