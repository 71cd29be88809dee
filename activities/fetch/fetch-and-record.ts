/**
 * fetchAndRecord: a fetch and the record of its attempt in one step, within a workflow task of the page. Only for sites that answer
 * quickly. If the task is lost with its worker, it is repeated with the same lease, which the gate then refuses.
 */
import { Context } from '@temporalio/activity';
import type { Activities, FetchOutcome, QuickFetchInput } from '../../src/core/activities.ts';
import { slotWaitMs } from '../../src/core/attempt.ts';
import { isRetryable } from '../../src/core/retry-policy.ts';
import { LEAD_MS } from '../../src/core/slot-protocol.ts';
import { readClocks } from '../../src/worker/clocks.ts';
import type { Deps } from '../deps.ts';
import { persistOrFault } from '../process/persist-page.ts';
import { createProcessPage } from '../process/process-page.ts';
import { fetchPage } from './fetch-page.ts';

export function createFetchAndRecord(deps: Deps): Activities['fetchAndRecord'] {
  const { quickFetches } = deps;
  return async function fetchAndRecord(input) {
    if (!quickFetches.begin()) return { kind: 'crowded' };
    try {
      const receivedAt = readClocks();
      if (!(await isNear(input, quickFetches))) return { kind: 'crowded' };
      const { undelivered, request, ...fetched } = await fetchPage(deps, input, receivedAt);
      const leftToPage = { ...(undelivered && { undelivered }), ...(request && { request }) };
      return { ...(await recordFinal(deps, input, fetched)), ...leftToPage };
    } finally {
      quickFetches.end();
    }
  };
}

/** Waits until shortly before the slot. false: the worker stops. */
async function isNear(
  { lease, scheduledAt }: QuickFetchInput,
  quickFetches: Deps['quickFetches'],
): Promise<boolean> {
  const waitMs = lease.notBefore - scheduledAt - LEAD_MS;
  return waitMs <= 0 || quickFetches.wait(waitMs, Context.current().cancellationSignal);
}

/** Whether an attempt is repeated, and when, is for the page to decide. */
async function recordFinal(
  deps: Deps,
  { crawlId, pageId, url, attempt, askedAt }: QuickFetchInput,
  fetched: FetchOutcome,
): Promise<FetchOutcome> {
  if (fetched.kind !== 'attempt' || isRetryable(fetched.report.outcome)) return fetched;
  const { report } = fetched;
  const waitedMs = slotWaitMs(report, askedAt);
  const event = { kind: 'attempt', attempt, report, slotWaitMs: waitedMs, retryAt: null } as const;
  try {
    const persisted =
      report.found.kind === 'document'
        ? await createProcessPage(deps)({ crawlId, pageId, url, event })
        : await persistOrFault(deps, { crawlId, pageId, event }, null);
    return { kind: 'recorded', outcome: report.outcome, persisted };
  } catch (error) {
    deps.log.debug({ url, err: error }, 'could not record a page at once; its workflow will');
    return fetched;
  }
}
