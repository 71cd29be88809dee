/**
 * One crawl: opens it, then sweeps the frontier at intervals: starts pages that are due or have stalled, and ends when no
 * page is open. Pages start each other; this workflow is their root and their safety net, and is not notified of each page.
 */
import { ApplicationFailure } from '@temporalio/common';
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
import type { OpenedCrawl } from '../src/core/activities.ts';
import { truncateSummary } from '../src/core/format.ts';
import {
  type CrawlProgress,
  cancelCrawlUpdate,
  pauseCrawlUpdate,
  progressQuery,
  type RequestedStatus,
  resumeCrawlUpdate,
  sweepSignal,
} from './messages.ts';
import { startPages } from './page/start-pages.ts';
import { failureOf, runRegularStep, runStep } from './run-step.ts';

/** What the crawl's next run must know of the ones before it. */
interface CrawlCarry extends OpenedCrawl {
  progress: CrawlProgress;
}

export interface CrawlResult {
  crawlId: string;
  pages: Record<string, number>;
  found: number;
}

const CANCEL_INTERVAL_MS = 1_000;
const MAX_CANCEL_INTERVAL_MS = 15_000;

/** `input` is what people type; the first activity parses it. */
export async function Crawl(input: unknown, carry?: CrawlCarry): Promise<CrawlResult> {
  const { workflowId: crawlId, runId } = workflowInfo();
  let progress: CrawlProgress = carry?.progress ?? {
    crawlId,
    status: 'Running',
    pages: {},
    found: 0,
    asOf: null,
  };
  /** What operators requested and the database does not have yet; only the last one counts. */
  const pendingStatusChanges: RequestedStatus[] = [];
  let sweepNow = false;
  const request = (status: RequestedStatus): CrawlProgress => {
    pendingStatusChanges.push(status);
    sweepNow = true;
    progress = { ...progress, status };
    return progress;
  };
  const whileActive = { validator: () => assertActive(progress) };
  setHandler(progressQuery, () => progress);
  setHandler(sweepSignal, () => {
    sweepNow = true;
  });
  setHandler(pauseCrawlUpdate, () => request('Paused'), whileActive);
  setHandler(resumeCrawlUpdate, () => request('Running'), whileActive);
  setHandler(cancelCrawlUpdate, () => request('Cancelling'));
  let opened: OpenedCrawl | null = carry ?? null;
  const cancelAll = async (): Promise<void> => {
    const done = await cancelPages(crawlId, { mayContinueAsNew: opened !== null });
    if (!done && opened) await continueAsNew<typeof Crawl>(input, { ...opened, cancelling: true, progress });
  };
  try {
    opened ??= await open(crawlId, input);
    const { settings, sweepIntervalMs, cancelling } = opened;
    if (cancelling) request('Cancelling');
    for (let round = 1; ; round += 1) {
      sweepNow = false;
      const requested = pendingStatusChanges.splice(0).at(-1);
      if (requested === 'Cancelling') await cancelAll();
      else if (requested !== undefined) await applyStatus(crawlId, requested);
      const swept = await runStep('sweepCrawl', 'sweep: look for pages that are due or stalled', {
        crawlId,
        by: `${runId}:${round}`,
      });
      const { pages, found } = swept;
      const status = pendingStatusChanges.at(-1) ?? swept.status;
      progress = { crawlId, status, pages, found, asOf: new Date().toISOString() };
      setCurrentDetails(toMarkdown(progress));
      await startPages(crawlId, settings, swept.start);
      if (swept.ended) return { crawlId, pages, found };
      if (workflowInfo().continueAsNewSuggested && pendingStatusChanges.length === 0) {
        await continueAsNew<typeof Crawl>(input, { settings, sweepIntervalMs, cancelling: false, progress });
      }
      await condition(() => sweepNow, sweepIntervalMs, { summary: 'until the next sweep' });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    progress = { ...progress, status: 'Cancelling' };
    await CancellationScope.nonCancellable(async () => {
      // An activity may be opening the crawl right now and would leave pages that no workflow looks after: wait for it.
      opened ??= await open(crawlId, input);
      await cancelAll();
    });
    throw error;
  }
}

async function open(crawlId: string, input: unknown): Promise<OpenedCrawl> {
  try {
    return await runRegularStep('openCrawl', 'validate the input and open the crawl', { crawlId, input });
  } catch (error) {
    const failure = failureOf(error);
    // The message itself, instead of "Activity task failed" with the message three levels down.
    if (failure?.type === 'BadInput') throw ApplicationFailure.nonRetryable(failure.message, 'BadInput');
    throw error;
  }
}

function assertActive({ crawlId, status }: CrawlProgress): void {
  if (status === 'Running' || status === 'Paused') return;
  throw ApplicationFailure.nonRetryable(
    `The crawl "${crawlId}" is ${status}: it can no longer be paused or resumed.`,
    'BadInput',
  );
}

async function applyStatus(crawlId: string, status: 'Running' | 'Paused'): Promise<void> {
  const summary = status === 'Paused' ? 'pause the crawl' : 'resume the crawl';
  await runStep('setCrawlStatus', summary, { crawlId, status });
}

/**
 * Cancels pages until each has a final status. Repeated, because the server's list of open workflows lags behind. false:
 * some are still open, and this run's history is long enough.
 */
async function cancelPages(
  crawlId: string,
  { mayContinueAsNew }: { mayContinueAsNew: boolean },
): Promise<boolean> {
  for (let ms = CANCEL_INTERVAL_MS; ; ms = Math.min(ms * 2, MAX_CANCEL_INTERVAL_MS)) {
    const { open } = await runRegularStep('cancelPages', 'cancel the pages that are still open', { crawlId });
    if (open === 0) return true;
    await sleep(ms, { summary: truncateSummary(`${open} pages still open`) });
    if (mayContinueAsNew && workflowInfo().continueAsNewSuggested) return false;
  }
}

function toMarkdown({ status, found, asOf, pages }: CrawlProgress): string {
  const counts = Object.entries(pages).map(([pageStatus, count]) => `- ${pageStatus}: ${count}`);
  return [`**${status}, ${found} pages found** (as of ${asOf})`, '', ...counts].join('\n');
}
