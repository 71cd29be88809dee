/** How CrawlPage workflows are started. */
import { WorkflowExecutionAlreadyStartedError } from '@temporalio/common';
import { CancellationScope, ParentClosePolicy, startChild } from '@temporalio/workflow';
import { truncateSummary } from '../../src/core/format.ts';
import type { AdmittedPage, PageInput, PageSettings } from '../../src/core/page-input.ts';
import { pageWorkflowId } from '../ids.ts';
import { pageLabels } from '../labels.ts';

/**
 * Starts the pages and returns once all have started: a start that is not awaited is dropped when its parent ends. Not
 * cancellable, because cancelling the parent is not meant for them, and because the SDK never answers a start that was
 * cancelled before it was confirmed: the parent would wait forever.
 */
export async function startPages(
  crawlId: string,
  settings: PageSettings,
  pages: readonly AdmittedPage[],
): Promise<void> {
  if (pages.length === 0) return;
  await CancellationScope.nonCancellable(() =>
    Promise.all(pages.map((page) => startPage({ crawlId, settings, page }))),
  );
}

async function startPage(input: PageInput): Promise<void> {
  try {
    await startChild('CrawlPage', {
      workflowId: pageWorkflowId(input.crawlId, input.page),
      args: [input],
      parentClosePolicy: ParentClosePolicy.ABANDON,
      workflowIdReusePolicy: 'ALLOW_DUPLICATE',
      staticSummary: truncateSummary(input.page.url),
      ...pageLabels(input),
    });
  } catch (error) {
    // Another workflow started it: that is just as good.
    if (!(error instanceof WorkflowExecutionAlreadyStartedError)) throw error;
  }
}
