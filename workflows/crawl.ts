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
import type { CrawlOrder, OpenedCrawl } from '../src/core/activities.ts';
import { truncateSummary } from '../src/core/format.ts';
import type { CrawlStatus } from '../src/core/outcome.ts';
import { AnswersFirst } from './answers-first.ts';
import { crawlLink, labelCrawl } from './labels.ts';
import {
  type CrawlProgress,
  cancelCrawlUpdate,
  pauseCrawlUpdate,
  progressQuery,
  resumeCrawlUpdate,
  sweepSignal,
} from './messages.ts';
import { startPages } from './page/start-pages.ts';
import { receivedOrder, validateOrigin } from './received-order.ts';
import { failureOf, runRegularStep, runStep } from './run-step.ts';

/** What the crawl's next run must know of the ones before it. */
interface CrawlCarry extends OpenedCrawl {
  progress: CrawlProgress;
  orders: CrawlOrder[];
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
  /** What operators ordered and the database does not have yet. */
  const pendingOrders: CrawlOrder[] = [...(carry?.orders ?? [])];
  const answers = new AnswersFirst();
  let sweepNow = false;
  const receive = (order: CrawlOrder): CrawlProgress => {
    answers.receive();
    pendingOrders.push(order);
    sweepNow = true;
    progress = { ...progress, status: statusAfter(order, progress.status) };
    return progress;
  };
  const whileActive = {
    validator: (origin: unknown) => {
      assertActive(progress);
      validateOrigin(origin);
    },
  };
  setHandler(progressQuery, () => progress);
  setHandler(sweepSignal, () => {
    sweepNow = true;
  });
  setHandler(pauseCrawlUpdate, (origin) => receive(receivedOrder('pause', origin)), whileActive);
  setHandler(resumeCrawlUpdate, (origin) => receive(receivedOrder('resume', origin)), whileActive);
  setHandler(cancelCrawlUpdate, (origin) => receive(receivedOrder('cancel', origin)), {
    validator: validateOrigin,
  });
  let opened: OpenedCrawl | null = carry ?? null;
  /** Orders go along: to record them first would bring the next ones, and this run might never end. */
  const endRun = async (next: OpenedCrawl): Promise<never> => {
    await answers.sent();
    return continueAsNew<typeof Crawl>(input, { ...next, progress, orders: pendingOrders });
  };
  const cancelAll = async (): Promise<void> => {
    const done = await cancelPages(crawlId, { mayContinueAsNew: opened !== null });
    if (!done && opened) await endRun({ ...opened, cancelling: true });
  };
  try {
    if (opened === null) {
      opened = await open(crawlId, input);
      labelCrawl(opened.settings.labels, crawlId);
    }
    let { settings, cancelling } = opened;
    for (let round = 1; ; round += 1) {
      sweepNow = false;
      const orders = pendingOrders.splice(0);
      if (orders.length > 0) await applyOrders(crawlId, orders);
      if (cancelling || orders.some(({ kind }) => kind === 'cancel')) await cancelAll();
      const swept = await runStep('sweepCrawl', 'sweep: look for pages that are due or stalled', {
        crawlId,
        by: `${runId}:${round}`,
      });
      if (swept === null) {
        // Opened since the backup that Postgres was restored from: it begins again.
        opened = await open(crawlId, input);
        continue;
      }
      const { pages, found, labels = settings.labels } = swept;
      if (labels) settings = { ...settings, labels };
      const status = pendingOrders.reduce((before, order) => statusAfter(order, before), swept.status);
      progress = { crawlId, status, pages, found, asOf: new Date().toISOString() };
      setCurrentDetails(toMarkdown(progress, crawlLink(settings.labels, crawlId)));
      await startPages(crawlId, settings, swept.start);
      // A sweep that was requested since may find pages that an operator has queued again.
      if (swept.ended && !sweepNow) return { crawlId, pages, found };
      // Ordered by a process that wrote the row itself.
      cancelling = swept.status === 'Cancelling';
      if (cancelling) continue;
      if (workflowInfo().continueAsNewSuggested) await endRun({ settings, cancelling: false });
      await condition(() => sweepNow, swept.nextMs, { summary: 'until the next sweep' });
    }
  } catch (error) {
    if (!isCancellation(error)) throw error;
    progress = { ...progress, status: 'Cancelling' };
    await CancellationScope.nonCancellable(async () => {
      // An activity may be opening the crawl right now and would leave pages that no workflow looks after: wait for it.
      opened ??= await open(crawlId, input);
      await applyOrders(crawlId, [...pendingOrders.splice(0), receivedOrder('cancel', null)]);
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

function statusAfter({ kind }: CrawlOrder, before: CrawlStatus): CrawlStatus {
  if (kind === 'cancel' || before === 'Cancelling') return 'Cancelling';
  return kind === 'pause' ? 'Paused' : 'Running';
}

async function applyOrders(crawlId: string, orders: CrawlOrder[]): Promise<void> {
  const summary = `${orders.map(({ kind }) => kind).join(', ')} the crawl`;
  await runStep('applyCrawlOrders', summary, { crawlId, orders });
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

function toMarkdown({ status, found, asOf, pages }: CrawlProgress, link: string | null): string {
  const counts = Object.entries(pages).map(([pageStatus, count]) => `- ${pageStatus}: ${count}`);
  const lines = [`**${status}, ${found} pages found** (as of ${asOf})`, '', ...counts];
  return (link === null ? lines : [...lines, '', link]).join('\n');
}
