/** What a page does with a lease: has it fetched, and sees to it that the throttle hears what became of it. */
import { ActivityFailure, ApplicationFailure, TimeoutFailure, TimeoutType } from '@temporalio/common';
import { CancellationScope, isCancellation } from '@temporalio/workflow';
import type { FetchResult } from '../../activities/index.ts';
import { truncateSummary } from '../../src/core/format.ts';
import type { AdmittedPage, PageInput, RobotsHop } from '../../src/core/page-input.ts';
import type { LeaseReport } from '../../src/core/slot-protocol.ts';
import { fetchPage } from '../proxies.ts';
import type { Granted, Slots } from './slot-client.ts';

export async function spendSlot(
  { page, crawlId, settings }: PageInput,
  slots: Slots,
  { lease, ask, domain }: Granted,
  robotsHop: RobotsHop | null,
): Promise<FetchResult> {
  const scope = CancellationScope.current();
  if (scope.consideredCancelled) {
    // Granted in the moment of its cancellation: nobody else could give the lease back.
    await CancellationScope.nonCancellable(() =>
      slots.giveBack(domain, lease.id, { use: { kind: 'unused' } }),
    );
    await scope.cancelRequested;
  }
  const left = lease.startBy - Date.now();
  if (left <= 0) {
    await slots.giveBack(domain, lease.id, { use: { kind: 'unused' } });
    return { kind: 'refused', reason: 'its start window had passed', reported: true };
  }
  try {
    return await fetchPage.executeWithOptions(
      {
        scheduleToStartTimeout: left,
        startToCloseTimeout: left + settings.fetch.totalTimeoutMs + settings.heartbeatMs,
        heartbeatTimeout: settings.heartbeatMs,
        summary: truncateSummary(`fetch ${robotsHop?.url ?? page.url}`),
      },
      [{ crawlId, ...target(page), domain, lease, ask, robotsHop }],
    );
  } catch (error) {
    if (!(error instanceof ActivityFailure)) throw error;
    return fetchDied(error, (use) => slots.giveBack(domain, lease.id, { use: { kind: use } }));
  }
}

/** What the fetch needs to know of the page. */
function target({ pageId, url, sitemap }: AdmittedPage): Pick<AdmittedPage, 'pageId' | 'url' | 'sitemap'> {
  return {
    pageId,
    url,
    ...(sitemap === undefined ? {} : { sitemap }),
  };
}

/** The fetch ended without a word of its own: its worker died, hung, or threw what nobody expected. */
async function fetchDied(
  failure: ActivityFailure,
  giveBack: (use: 'unused' | 'lost') => Promise<void>,
): Promise<FetchResult> {
  const { cause } = failure;
  const neverStarted = cause instanceof TimeoutFailure && cause.timeoutType === TimeoutType.SCHEDULE_TO_START;
  await CancellationScope.nonCancellable(() => giveBack(neverStarted ? 'unused' : 'lost'));
  if (isCancellation(failure)) throw failure;
  if (neverStarted) return { kind: 'refused', reason: 'no worker took the fetch in time', reported: true };
  const reason = cause instanceof ApplicationFailure ? cause.message : 'its worker stopped answering';
  return { kind: 'trouble', reason, sent: true, reported: true };
}

/** What the page says of a lease whose fetch could not: the fetch's own words, or, of an earlier version, what is certain. */
export function wordOn(result: FetchResult): LeaseReport {
  return result.unsaid ?? { use: { kind: mayBeUsed(result) ? 'lost' : 'unused' } };
}

/** Whether a request may have gone out under the lease. */
function mayBeUsed(result: FetchResult): boolean {
  switch (result.kind) {
    case 'refused':
    case 'held':
      return false;
    case 'trouble':
      return result.sent;
    case 'robots-read':
    case 'robots-moved':
    case 'attempt':
      return true;
  }
}
