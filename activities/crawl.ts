/** The steps of the Crawl workflow. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { BadInput, parseCrawlInput } from '../src/config/index.ts';
import type { Activities } from '../src/core/activities.ts';
import { createKeyedLimiter } from '../src/core/keyed-limiter.ts';
import type { AdmittedPage } from '../src/core/page-input.ts';
import {
  type CrawlRecord,
  checkAllPagesSoon,
  endCrawl,
  findCrawl,
  openCrawl as open,
  readCrawl,
  setPaused,
} from '../src/storage/crawls.ts';
import { cancelIdlePages, startCancelling } from '../src/storage/frontier/cancel.ts';
import {
  admitDue,
  cancelBeyondBudget,
  countPages,
  findStalled,
  hasNoAdmittedPages,
} from '../src/storage/frontier/sweep.ts';
import { isCrawlId, pageWorkflowId } from '../workflows/ids.ts';
import type { Deps } from './deps.ts';

/** Cancellations in flight: the server accepts about 50 per second by default. */
const MAX_CANCELS_IN_FLIGHT = 20;
const MAX_CANCELS_PER_ROUND = 1_000;

type CrawlSteps = Pick<Activities, 'openCrawl' | 'sweepCrawl' | 'setCrawlStatus' | 'cancelPages'>;

export function createCrawlSteps(deps: Deps): CrawlSteps {
  const { db, config } = deps;
  return {
    async openCrawl({ crawlId, input }) {
      const { settings, status } = (await resume(deps, crawlId)) ?? (await openNew(deps, crawlId, input));
      const { delay, concurrency, targetConcurrency, retry, fetch, longWaitMs, sweepIntervalMs } = settings;
      const { quietMs: _, ...asking } = config.asking;
      return {
        settings: {
          delay,
          concurrency,
          targetConcurrency,
          retry,
          fetch,
          longWaitMs,
          heartbeatMs: config.heartbeatMs,
          asking,
        },
        sweepIntervalMs,
        cancelling: status === 'Cancelling',
      };
    },

    async sweepCrawl({ crawlId, by }) {
      const { settings } = await deps.crawlOf(crawlId);
      const admitted = await admitDue(db, crawlId, settings, by);
      const stalled = await findStalled(db, crawlId, (page) => isRunning(deps, crawlId, page));
      if (await hasNoAdmittedPages(db, crawlId)) await cancelBeyondBudget(db, crawlId);
      const { pages, found, open } = await countPages(db, crawlId);
      if (open === 0) await endCrawl(db, crawlId, 'Completed', null);
      const { status } = await readCrawl(db, crawlId);
      return { pages, found, status, start: [...admitted, ...stalled], ended: open === 0 };
    },

    async setCrawlStatus({ crawlId, status }) {
      await setPaused(db, crawlId, status === 'Paused');
    },

    /** One round; returns how many pages still have to end. */
    async cancelPages({ crawlId }) {
      await startCancelling(db, crawlId);
      await cancelWorkflows(deps, crawlId);
      const open = await cancelIdlePages(db, crawlId, (page) => isRunning(deps, crawlId, page));
      if (open === 0) await endCrawl(db, crawlId, 'Cancelled', 'cancelled on request');
      return { open };
    },
  };
}

/** A crawl whose workflow was lost continues with its first settings, whatever the input is now. */
async function resume({ db }: Deps, crawlId: string): Promise<CrawlRecord | null> {
  const known = await findCrawl(db, crawlId);
  if (known === null) return null;
  if (known.status === 'Running' || known.status === 'Paused' || known.status === 'Cancelling') {
    await checkAllPagesSoon(db, crawlId);
    return known;
  }
  throw badInput(`The crawl "${crawlId}" is ${known.status}: choose another id.`);
}

async function openNew(deps: Deps, crawlId: string, input: unknown): Promise<CrawlRecord> {
  try {
    const { seeds, settings } = parse(crawlId, input, deps);
    return await open(deps.db, { id: crawlId, seeds, settings, unit: deps.config.politenessKey });
  } catch (error) {
    if (error instanceof BadInput) throw badInput(error.message);
    throw error;
  }
}

function badInput(message: string): ApplicationFailure {
  return ApplicationFailure.nonRetryable(message, 'BadInput');
}

function parse(crawlId: string, input: unknown, { config }: Deps): ReturnType<typeof parseCrawlInput> {
  if (!isCrawlId(crawlId)) {
    throw new BadInput(
      `The workflow id "${crawlId}" cannot name a crawl: use letters, digits, ".", "_" and "-", at most 100.`,
    );
  }
  return parseCrawlInput(input, config);
}

async function isRunning({ client }: Deps, crawlId: string, page: AdmittedPage): Promise<boolean> {
  try {
    const { status } = await client.workflow.getHandle(pageWorkflowId(crawlId, page)).describe();
    return status.name === 'RUNNING';
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  }
}

async function cancelWorkflows({ client }: Deps, crawlId: string): Promise<void> {
  const query = `RootWorkflowId='${crawlId}' AND ExecutionStatus='Running' AND WorkflowType='CrawlPage'`;
  const ids: string[] = [];
  for await (const { workflowId } of client.workflow.list({ query })) {
    ids.push(workflowId);
    if (ids.length >= MAX_CANCELS_PER_ROUND) break;
  }
  const limit = createKeyedLimiter(MAX_CANCELS_IN_FLIGHT);
  await Promise.all(ids.map((id) => limit(crawlId, () => cancelOne(client, id))));
}

async function cancelOne(client: Deps['client'], workflowId: string): Promise<void> {
  try {
    await client.workflow.getHandle(workflowId).cancel();
  } catch (error) {
    // It ended since it was listed.
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  }
}
