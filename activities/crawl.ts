/** The steps of the Crawl workflow. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { ApplicationFailure } from '@temporalio/common';
import { BadInput, parseCrawlInput } from '../src/config/index.ts';
import type { Activities } from '../src/core/activities.ts';
import { createKeyedLimiter } from '../src/core/keyed-limiter.ts';
import type { AdmittedPage } from '../src/core/page-input.ts';
import { foldChanges } from '../src/storage/counts.ts';
import {
  applyCrawlOrder,
  type CrawlRecord,
  checkAllPagesSoon,
  endCrawl,
  findCrawl,
  openCrawl as open,
  readCrawl,
} from '../src/storage/crawls.ts';
import { cancelIdlePages } from '../src/storage/frontier/cancel.ts';
import {
  admitDue,
  areOthersInProgress,
  cancelBeyondBudget,
  endIfDone,
  findStalled,
  hasNoAdmittedPages,
  hasOpenPages,
} from '../src/storage/frontier/sweep.ts';
import { countPages } from '../src/storage/reports/counts.ts';
import { isCrawlId, pageWorkflowId } from '../workflows/ids.ts';
import { withCancellationOrigin } from './cancellation-origin.ts';
import type { Deps } from './deps.ts';

/** Cancellations in flight: the server accepts about 50 per second by default. */
const MAX_CANCELS_IN_FLIGHT = 20;
const MAX_CANCELS_PER_ROUND = 1_000;

/**
 * While pages in progress are late, a crawl that has the worker for itself begins three new hosts a second: fewer would make it slow
 * to reach thousands of hosts. Beside other crawls it begins one in five seconds, since a new host costs as much as several pages,
 * and theirs came first. Not none: a crawl whose pages never end would keep all others waiting.
 */
const BEHIND_ALONE = { maxAdmitted: 10, minIntervalMs: 3_000 };
const BEHIND_OTHERS = { maxAdmitted: 2, minIntervalMs: 10_000 };
/** Otherwise it begins with as many pages as the machine can start in a second or two: more would keep all others from their slots. */
const IN_TIME = { maxAdmitted: 20, minIntervalMs: 1_000 };
/** Sweeps take at most a tenth of the time: they read more the larger the crawl. */
const PAUSE_FACTOR = 10;

type CrawlSteps = Pick<Activities, 'openCrawl' | 'sweepCrawl' | 'applyCrawlOrders' | 'cancelPages'>;

export function createCrawlSteps(deps: Deps): CrawlSteps {
  const { db, config } = deps;
  return {
    async openCrawl({ crawlId, input }) {
      const { settings, status } = (await resume(deps, crawlId)) ?? (await openNew(deps, crawlId, input));
      const { delay, concurrency, targetConcurrency, retry, fetch, longWaitMs } = settings;
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
          labels: { ...deps.labels },
        },
        cancelling: status === 'Cancelling',
      };
    },

    async sweepCrawl({ crawlId, by }) {
      const crawl = await findCrawl(db, crawlId);
      if (crawl === null) return null;
      const { settings } = crawl;
      const began = performance.now();
      const { maxAdmitted, minIntervalMs } = await paceOf(deps, crawlId);
      const first = await deps.leadingDomains(crawlId);
      const admitted = await admitDue(db, crawlId, settings, by, { maxAdmitted, first });
      const stalled = await findStalled(db, crawlId, (page) => isRunning(deps, crawlId, page));
      if (await hasNoAdmittedPages(db, crawlId)) await cancelBeyondBudget(db, crawlId);
      // First without a lock, because the crawl's row is locked by pages that reserve a place in its budget.
      const ended = !(await hasOpenPages(db, crawlId)) && (await endIfDone(db, crawlId));
      await foldChanges(db, crawlId);
      const { pages, found } = await countPages(db, crawlId);
      const { status } = await readCrawl(db, crawlId);
      const soonMs = Math.max(minIntervalMs, PAUSE_FACTOR * (performance.now() - began));
      const isMoreDue = admitted.length >= maxAdmitted;
      const nextMs = isMoreDue ? Math.min(soonMs, settings.sweepIntervalMs) : settings.sweepIntervalMs;
      return {
        pages,
        found,
        status,
        start: [...admitted, ...stalled],
        nextMs,
        ended,
        labels: { ...deps.labels },
      };
    },

    async applyCrawlOrders({ crawlId, orders }) {
      for (const order of orders)
        await applyCrawlOrder(db, crawlId, await withCancellationOrigin(deps.client, crawlId, order));
    },

    /** One round; returns how many pages still have to end. */
    async cancelPages({ crawlId }) {
      await cancelWorkflows(deps, crawlId);
      const open = await cancelIdlePages(db, crawlId, (page) => isRunning(deps, crawlId, page));
      if (open === 0) await endCrawl(db, crawlId, 'Cancelled', 'cancelled on request');
      await foldChanges(db, crawlId);
      return { open };
    },
  };
}

/** How many pages a sweep admits, and how soon the next one follows if there are more. */
async function paceOf({ db, lateness }: Deps, crawlId: string): Promise<typeof IN_TIME> {
  if (!lateness.isBehind) return IN_TIME;
  return (await areOthersInProgress(db, crawlId)) ? BEHIND_OTHERS : BEHIND_ALONE;
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
