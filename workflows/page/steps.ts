/** The small steps that a page's workflow is made of. */
import { sleep } from '@temporalio/workflow';
import type { PageEvent, PersistResult } from '../../src/core/activities.ts';
import type { RequestRecord } from '../../src/core/attempt.ts';
import { formatDuration, truncateSummary } from '../../src/core/format.ts';
import type { PageInput } from '../../src/core/page-input.ts';
import { runStep } from '../run-step.ts';
import { startPages } from './start-pages.ts';

/** Records what happened to the page, and starts the pages that this made room for. */
export async function persistEvent(
  { crawlId, settings, page }: PageInput,
  event: PageEvent,
): Promise<PersistResult> {
  const what = event.kind === 'attempt' ? event.report.outcome : event.kind;
  const { pageId, url } = page;
  const persisted = await runStep('persistPage', `record ${what} for ${url}`, { crawlId, pageId, event });
  await startPages(crawlId, settings, persisted.start);
  return persisted;
}

/** Records a request that its fetch could not record. */
export async function persistRequest({ crawlId, page }: PageInput, request: RequestRecord): Promise<void> {
  const { pageId } = page;
  await runStep('recordRequest', `record the request for ${request.url}`, { ...request, crawlId, pageId });
}

export async function sleepUntil(at: number, why: string): Promise<void> {
  const ms = at - Date.now();
  if (ms > 0) await sleep(ms, { summary: truncateSummary(`${why} in ${formatDuration(ms)}`) });
}
