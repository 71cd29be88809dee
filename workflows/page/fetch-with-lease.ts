/** Runs a fetch under a lease, and makes sure that the throttle learns what became of the lease. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { FetchResult } from '../../src/core/activities.ts';
import { truncateSummary } from '../../src/core/format.ts';
import type { PageInput, RobotsHop } from '../../src/core/page-input.ts';
import { INTERNAL_COST } from '../../src/core/retry-policy.ts';
import { fetchPage } from '../proxies.ts';
import type { GrantedSlot, SlotClient } from './slot-client.ts';

/** Beyond the lease, connecting and the response: for a turn at the address, and for the reports. */
const SLACK_MS = 15_000;

export async function fetchWithLease(
  { page, crawlId, settings }: PageInput,
  slots: SlotClient,
  { lease, ask, domain }: GrantedSlot,
  { attempt, robotsHop }: { attempt: number; robotsHop: RobotsHop | null },
): Promise<FetchResult> {
  const releaseAs = (kind: 'unused' | 'lost') => slots.release(domain, lease.id, { use: { kind } });
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) {
    // Granted at the moment of its cancellation: nothing else would release the lease.
    await releaseAs('unused');
    await scope.cancelRequested;
  }
  const leftMs = lease.startBy - Date.now();
  if (leftMs <= 0) {
    await releaseAs('unused');
    return { kind: 'refused', reason: 'its start window had passed' };
  }
  const { pageId, url, sitemap } = page;
  const { connectTimeoutMs, totalTimeoutMs } = settings.fetch;
  try {
    return await fetchPage.executeWithOptions(
      {
        scheduleToStartTimeout: leftMs,
        startToCloseTimeout: leftMs + connectTimeoutMs + totalTimeoutMs + SLACK_MS,
        heartbeatTimeout: settings.heartbeatMs,
        summary: truncateSummary(`fetch ${robotsHop?.url ?? url}`),
      },
      [
        {
          crawlId,
          pageId,
          url,
          attempt,
          ...(sitemap && { sitemap }),
          domain,
          lease,
          ask,
          connectTimeoutMs,
          robotsHop,
        },
      ],
    );
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return handleDeadFetch(error, releaseAs);
  }
}

/** The fetch ended without a result: its worker died or hung, or it threw something unexpected. */
async function handleDeadFetch(
  failure: ActivityFailure,
  releaseAs: (kind: 'unused' | 'lost') => Promise<{ passed: boolean }>,
): Promise<FetchResult> {
  const { cause } = failure;
  const neverStarted = cause instanceof TimeoutFailure && cause.timeoutType === TimeoutType.SCHEDULE_TO_START;
  const { passed } = await releaseAs(neverStarted ? 'unused' : 'lost');
  if (isCancellation(failure)) throw failure;
  if (neverStarted) return { kind: 'refused', reason: 'no worker started the fetch in time' };
  const reason = cause instanceof ApplicationFailure ? cause.message : 'its worker stopped responding';
  const cost = passed ? INTERNAL_COST.lostOrBug : INTERNAL_COST.diedBeforeRequest;
  return { kind: 'internal-error', reason, sent: passed, cost };
}
