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
import type { OpenedCrawl, SweepResult } from '../activities/index.ts';
import {
  type CrawlProgress,
  cancelCrawlUpdate,
  pauseCrawlUpdate,
  progressQuery,
  resumeCrawlUpdate,
  type SteeredStatus,
  sweepSignal,
} from './messages.ts';
import { startPages } from './page/start-pages.ts';
import { apart, local, regular } from './proxies.ts';
import { durably } from './run-step.ts';

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
  let progress: CrawlProgress = carry?.progress ?? {
    crawlId,
    status: 'Running',
    pages: {},
    found: 0,
    asOf: null,
  };
  /** What operators asked for and the table does not say yet: only the last wish counts. */
  const wishes: SteeredStatus[] = [];
  let nudged = false;
  const steer = (status: SteeredStatus): CrawlProgress => {
    wishes.push(status);
    nudged = true;
    progress = { ...progress, status };
    return progress;
  };
  const unlessOver = { validator: () => refuseWhenOver(progress) };
  setHandler(progressQuery, () => progress);
  setHandler(sweepSignal, () => {
    nudged = true;
  });
  setHandler(pauseCrawlUpdate, () => steer('Paused'), unlessOver);
  setHandler(resumeCrawlUpdate, () => steer('Running'), unlessOver);
  setHandler(cancelCrawlUpdate, () => steer('Cancelling'));
  let opened: OpenedCrawl | null = carry ?? null;
  const cancelAll = async (): Promise<void> => {
    const drained = await drain(crawlId, opened !== null);
    if (!drained && opened)
      await continueAsNew<typeof Crawl>(input, { ...opened, cancelling: true, progress });
  };
  try {
    opened ??= await open(input);
    const { settings, sweepIntervalMs, cancelling } = opened;
    if (cancelling) steer('Cancelling');
    for (let round = 1; ; round += 1) {
      nudged = false;
      const wanted = wishes.splice(0).at(-1);
      if (wanted === 'Cancelling') await cancelAll();
      else if (wanted !== undefined) await makeIt(crawlId, wanted);
      const seen = await lookAround({ crawlId, by: `${runId}:${round}` });
      const status = wishes.at(-1) ?? seen.status;
      progress = { crawlId, status, pages: seen.pages, found: seen.found, asOf: new Date().toISOString() };
      setCurrentDetails(inMarkdown(progress));
      await startPages(crawlId, settings, seen.start);
      if (seen.ended) return { crawlId, pages: seen.pages, found: seen.found };
      if (workflowInfo().continueAsNewSuggested && wishes.length === 0) {
        await continueAsNew<typeof Crawl>(input, { settings, sweepIntervalMs, cancelling: false, progress });
      }
      await condition(() => nudged, sweepIntervalMs, { summary: 'until the next look at the frontier' });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    progress = { ...progress, status: 'Cancelling' };
    await CancellationScope.nonCancellable(async () => {
      // Somebody may be in the middle of opening it, and would leave behind what nobody looks after: that is waited for.
      opened ??= await open(input);
      await cancelAll();
    });
    throw error;
  }
}

async function open(input: unknown): Promise<OpenedCrawl> {
  const { workflowId: crawlId } = workflowInfo();
  try {
    return await regular.openCrawl.executeWithOptions(apart('check the input and open the crawl'), [
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

function refuseWhenOver({ crawlId, status }: CrawlProgress): void {
  if (status === 'Running' || status === 'Paused') return;
  throw ApplicationFailure.nonRetryable(
    `The crawl "${crawlId}" is ${status}: it can be neither paused nor resumed any more.`,
    'BadInput',
  );
}

function makeIt(crawlId: string, status: 'Running' | 'Paused'): Promise<void> {
  const summary = status === 'Paused' ? 'pause the crawl' : 'resume the crawl';
  const step = { crawlId, status };
  return durably(
    () => local.steerCrawl.executeWithOptions({ summary }, [step]),
    () => regular.steerCrawl.executeWithOptions(apart(summary), [step]),
  );
}

function lookAround(look: { crawlId: string; by: string }): Promise<SweepResult> {
  const summary = 'look for pages that are due or stalled';
  return durably(
    () => local.sweepCrawl.executeWithOptions({ summary }, [look]),
    () => regular.sweepCrawl.executeWithOptions(apart(summary), [look]),
  );
}

/**
 * Cancels page by page until each has a final status. Repeated, because the list of open workflows lags behind. False: some
 * are still open, and the history is long enough for this run.
 */
async function drain(crawlId: string, mayRenew: boolean): Promise<boolean> {
  for (let pause = CANCEL_ROUND_MS; ; pause = Math.min(pause * 2, LONGEST_CANCEL_ROUND_MS)) {
    const { open } = await regular.cancelPages.executeWithOptions(apart('cancel what is still open'), [
      { crawlId },
    ]);
    if (open === 0) return true;
    await sleep(pause, { summary: `${open} pages still open` });
    if (mayRenew && workflowInfo().continueAsNewSuggested) return false;
  }
}

function inMarkdown(progress: CrawlProgress): string {
  const counts = Object.entries(progress.pages).map(([status, count]) => `- ${status}: ${count}`);
  return [
    `**${progress.status}, ${progress.found} pages found** (as of ${progress.asOf})`,
    '',
    ...counts,
  ].join('\n');
}
