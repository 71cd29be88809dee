/**
 * One crawl: opens it, then looks at the frontier now and then (it never hears from every page), starts what stalled or
 * came due, and ends when nothing is open. Pages start each other; this workflow is their root and their safety net.
 */
import { ActivityFailure, ApplicationFailure } from '@temporalio/common';
import {
  CancellationScope,
  condition,
  continueAsNew,
  isCancellation,
  setCurrentDetails,
  setHandler,
  sleep,
  workflowInfo,
} from '@temporalio/workflow';
import type { OpenedCrawl } from '../activities/index.ts';
import { local, regular } from './activities.ts';
import { durably } from './durably.ts';
import { type CrawlProgress, nudgeSignal, progressQuery } from './messages.ts';
import { startPages } from './pages.ts';

/** What the crawl's next run must know of the ones before it. */
interface CrawlCarry extends OpenedCrawl {
  progress: CrawlProgress;
}

export interface CrawlResult {
  crawlId: string;
  pages: Record<string, number>;
  found: number;
}

const CANCEL_ROUND_MS = 1_000;
const LONGEST_CANCEL_ROUND_MS = 15_000;

/** `input` is what people type; it becomes a type in the first activity. */
export async function Crawl(input: unknown, carry?: CrawlCarry): Promise<CrawlResult> {
  const { workflowId: crawlId, runId } = workflowInfo();
  let progress: CrawlProgress = carry?.progress ?? { crawlId, pages: {}, found: 0, asOf: null };
  let nudged = false;
  setHandler(progressQuery, () => progress);
  setHandler(nudgeSignal, () => {
    nudged = true;
  });
  try {
    const { settings, sweepIntervalMs, cancelling } = carry ?? (await open(input));
    if (cancelling) await drain(crawlId);
    for (let round = 1; ; round += 1) {
      nudged = false;
      const look = { crawlId, by: `${runId}:${round}` };
      const summary = 'look for pages that are due or stalled';
      const seen = await durably(
        () => local.sweepCrawl.executeWithOptions({ summary }, [look]),
        () => regular.sweepCrawl.executeWithOptions({ summary }, [look]),
      );
      progress = { crawlId, pages: seen.pages, found: seen.found, asOf: new Date().toISOString() };
      setCurrentDetails(inMarkdown(progress));
      await startPages(crawlId, settings, seen.start);
      if (seen.ended) return { crawlId, pages: seen.pages, found: seen.found };
      if (workflowInfo().continueAsNewSuggested) {
        await continueAsNew<typeof Crawl>(input, { settings, sweepIntervalMs, cancelling, progress });
      }
      await condition(() => nudged, sweepIntervalMs, { summary: 'until the next look at the frontier' });
    }
  } catch (error) {
    if (isCancellation(error)) await CancellationScope.nonCancellable(() => drain(crawlId));
    throw error;
  }
}

async function open(input: unknown): Promise<OpenedCrawl> {
  const { workflowId: crawlId } = workflowInfo();
  try {
    return await regular.openCrawl.executeWithOptions({ summary: 'check the input and open the crawl' }, [
      { crawlId, input },
    ]);
  } catch (error) {
    const cause = error instanceof ActivityFailure ? error.cause : undefined;
    // The sentence itself, not "Activity task failed" with the sentence three levels down.
    if (cause instanceof ApplicationFailure && cause.type === 'BadInput') {
      throw ApplicationFailure.nonRetryable(cause.message, 'BadInput');
    }
    throw error;
  }
}

/** Cancels page by page until each has a final status. Repeated, because the list of open workflows lags behind. */
async function drain(crawlId: string): Promise<void> {
  for (let pause = CANCEL_ROUND_MS; ; pause = Math.min(pause * 2, LONGEST_CANCEL_ROUND_MS)) {
    const { open } = await regular.cancelPages.executeWithOptions({ summary: 'cancel what is still open' }, [
      { crawlId },
    ]);
    if (open === 0) return;
    await sleep(pause, { summary: `${open} pages still open` });
  }
}

function inMarkdown(progress: CrawlProgress): string {
  const counts = Object.entries(progress.pages).map(([status, count]) => `- ${status}: ${count}`);
  return [`**${progress.found} pages found** (as of ${progress.asOf})`, '', ...counts].join('\n');
}
