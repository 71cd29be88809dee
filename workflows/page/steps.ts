/** How a page has written down what happened to it, and starts the pages for which that made room. */
import { isCancellation } from '@temporalio/workflow';
import type { AttemptEvent, ParseInput, PersistInput, PersistResult } from '../../activities/index.ts';
import type { RequestRecord } from '../../src/core/attempt.ts';
import { truncateSummary } from '../../src/core/format.ts';
import type { PageInput } from '../../src/core/page-input.ts';
import { apart, local, regular } from '../proxies.ts';
import { durably } from '../run-step.ts';
import { startPages } from './start-pages.ts';

export async function settle(input: PageInput, event: PersistInput['event']): Promise<PersistResult> {
  const step: PersistInput = { ...idsOf(input), event };
  const what = event.kind === 'attempt' ? event.report.outcome : event.kind;
  const summary = truncateSummary(`record ${what} for ${input.page.url}`);
  const persisted = await durably(
    () => local.persistPage.executeWithOptions({ summary }, [step]),
    () => regular.persistPage.executeWithOptions(apart(summary), [step]),
  );
  await startPages(input.crawlId, input.settings, persisted.start);
  return persisted;
}

/** Has a request written down that its fetch could not. */
export function note({ crawlId, page }: PageInput, request: RequestRecord): Promise<void> {
  const summary = truncateSummary(`record that ${request.url} was asked for`);
  const step = { ...request, crawlId, pageId: page.pageId };
  return durably(
    () => local.noteRequest.executeWithOptions({ summary }, [step]),
    () => regular.noteRequest.executeWithOptions(apart(summary), [step]),
  );
}

/**
 * Parses and records in one step, which is all that nearly every page needs and saves it a turn of its workflow. Where one of the
 * two finds the page at fault it goes on step by step, with this as the first try of the step that did.
 */
export async function digest(
  input: PageInput,
  document: ParseInput,
  event: AttemptEvent,
): Promise<{ ok: true } | { ok: false; error: unknown }> {
  const { crawlId, settings, page } = input;
  const summary = truncateSummary(`parse and record ${page.url}`);
  const step = { ...idsOf(input), document, event };
  let persisted: PersistResult;
  try {
    persisted = await durably(
      () => local.digestPage.executeWithOptions({ summary }, [step]),
      () => regular.digestPage.executeWithOptions(apart(summary), [step]),
    );
  } catch (error) {
    if (isCancellation(error)) throw error;
    return { ok: false, error };
  }
  await startPages(crawlId, settings, persisted.start);
  return { ok: true };
}

function idsOf({ crawlId, page }: PageInput): { crawlId: string; pageId: string } {
  return { crawlId, pageId: page.pageId };
}
