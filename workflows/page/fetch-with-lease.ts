/** Runs a fetch under a lease, and makes sure that the throttle learns what became of the lease. */
import {
  ActivityFailure,
  ApplicationFailure,
  TemporalFailure,
  TimeoutFailure,
  TimeoutType,
} from '@temporalio/common';
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { FetchResult } from '../../src/core/activities.ts';
import { truncateSummary } from '../../src/core/format.ts';
import type { PageInput, RobotsHop } from '../../src/core/page-input.ts';
import { INTERNAL_COST } from '../../src/core/retry-policy.ts';
import { fetchAndRecord, fetchPage } from '../proxies.ts';
import { type GrantedSlot, type SlotClient, whenNotPassedOn } from './slot-client.ts';

/** Beyond the lease, connecting and the response: for a turn at the address, and for the reports. */
const SLACK_MS = 15_000;

export async function fetchWithLease(
  { page, crawlId, settings }: PageInput,
  slots: SlotClient,
  { lease, ask, domain }: GrantedSlot,
  { attempt, robotsHop, askedAt }: { attempt: number; robotsHop: RobotsHop | null; askedAt: number },
): Promise<FetchResult> {
  const release = (isUsed: boolean) =>
    slots.release(domain, lease.id, { use: { kind: isUsed ? 'lost' : whenNotPassedOn(lease) } });
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) {
    // Granted at the moment of its cancellation: nothing else would release the lease.
    await release(false);
    await scope.cancelRequested;
  }
  const scheduledAt = Date.now();
  const leftMs = lease.startBy - scheduledAt;
  if (leftMs <= 0) {
    await release(false);
    return { kind: 'refused', reason: 'its start window had passed' };
  }
  const { pageId, url, sitemap } = page;
  const { connectTimeoutMs, totalTimeoutMs } = settings.fetch;
  const options = {
    scheduleToStartTimeout: leftMs,
    startToCloseTimeout: leftMs + connectTimeoutMs + totalTimeoutMs + SLACK_MS,
    summary: truncateSummary(`fetch ${robotsHop?.url ?? url}`),
  };
  const input = {
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
  };
  try {
    if (lease.quick && isQuickKind(page, robotsHop)) {
      const result = await fetchAndRecord.executeWithOptions(options, [{ ...input, scheduledAt, askedAt }]);
      if (result.kind !== 'crowded') return result;
    }
    return await fetchPage.executeWithOptions({ ...options, heartbeatTimeout: settings.heartbeatMs }, [
      input,
    ]);
  } catch (error) {
    return handleDeadFetch(error, release);
  }
}

/** What may be fetched within a workflow task. */
export function isQuickKind({ sitemap }: PageInput['page'], robotsHop: RobotsHop | null): boolean {
  return !sitemap && robotsHop === null;
}

/** The fetch ended without a result: its worker died or hung, or it threw something unexpected. */
async function handleDeadFetch(
  failure: unknown,
  release: (isUsed: boolean) => Promise<{ passed: boolean }>,
): Promise<FetchResult> {
  // Only a regular activity's failure is wrapped.
  const cause = failure instanceof ActivityFailure ? failure.cause : failure;
  if (!(cause instanceof TemporalFailure)) throw failure;
  const neverStarted = cause instanceof TimeoutFailure && cause.timeoutType === TimeoutType.SCHEDULE_TO_START;
  const { passed } = await release(!neverStarted);
  if (isCancellation(failure)) throw failure;
  if (neverStarted) return { kind: 'refused', reason: 'no worker started the fetch in time' };
  const reason = cause instanceof ApplicationFailure ? cause.message : 'its worker stopped responding';
  const cost = passed ? INTERNAL_COST.lostOrBug : INTERNAL_COST.diedBeforeRequest;
  return { kind: 'internal-error', reason, sent: passed, cost };
}
