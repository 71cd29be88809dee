/** Crawls as commands need them: started, found again, resumed after their processes died, and followed to their end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { type AmbleConfig, BadInput, type CrawlRequest, createCrawlInput } from '../../config/index.ts';
import { truncateSummary } from '../../core/format.ts';
import type { Database } from '../../storage/database.ts';
import { hasEnded, type Progress, readProgress } from '../../storage/reports/progress.ts';
import { isTemporalUnavailable } from '../../worker/temporal-connection.ts';
import type { RunningWorker } from '../../worker/worker.ts';
import { type CommonOptions, formatCommand } from '../common-options.ts';
import { type RetryOptions, retryWhileUnavailable } from './retry-while-unavailable.ts';
import { workflowStatus } from './temporal-client.ts';

const POLL_INTERVAL_MS = 200;

export type FoundCrawl =
  | { kind: 'ended'; progress: Progress }
  /** `resumed`: it existed before this command. */
  | { kind: 'open'; handle: WorkflowHandle; resumed: boolean };

export interface CrawlTarget {
  client: Client;
  db: Database;
  config: AmbleConfig;
  crawlId: string;
  /** What to start a new crawl with; null: the crawl must exist. */
  request: CrawlRequest | null;
  /** Of the command, for the one that an error suggests. */
  options: CommonOptions;
}

/**
 * Finds the crawl with this id or starts it. A crawl that has not ended but has no workflow is resumed from its rows;
 * opening it a second time changes nothing.
 */
export async function findOrStartCrawl({
  client,
  db,
  config,
  crawlId,
  request,
  options,
}: CrawlTarget): Promise<FoundCrawl> {
  const row = await db.crawl.findUnique({ where: { id: crawlId }, select: { seeds: true } });
  const progress = row ? await readProgress(db, crawlId) : null;
  if (progress && hasEnded(progress)) return { kind: 'ended', progress };

  // The settings of an existing crawl are in its row and cannot be changed.
  const urls = row?.seeds ?? request?.seeds.map(({ url }) => url) ?? [];
  const input = row ? { seeds: row.seeds } : request && createCrawlInput(request.seeds, config);
  if (!input) {
    const handle = client.workflow.getHandle(crawlId);
    if ((await workflowStatus(client, crawlId)) === 'RUNNING') return { kind: 'open', handle, resumed: true };
    throw new BadInput(
      `There is no crawl named ${crawlId}; add URLs to start one, or list the crawls with "${formatCommand(['status'], options)}".`,
    );
  }
  const handle = await client.workflow.start('Crawl', {
    workflowId: crawlId,
    taskQueue: config.taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    // The row decides whether a crawl has ended; the server forgets closed workflows.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    staticSummary: truncateSummary(`crawl from ${urls.slice(0, 3).join(', ')}`),
  });
  return { kind: 'open', handle, resumed: row !== null };
}

/**
 * Resumes every unfinished crawl that the server has no workflow for, because the server's data was lost, and returns their
 * ids. A crawl whose workflow was terminated by hand stays as it is while the server remembers it (a day, with an
 * embedded server). To end a crawl for good, cancel it: its row remembers that.
 */
export async function resumeForgottenCrawls({
  client,
  db,
  config,
}: Pick<CrawlTarget, 'client' | 'db' | 'config'>): Promise<string[]> {
  const unfinished = await db.crawl.findMany({ where: { finishedAt: null }, select: { id: true } });
  const forgotten: string[] = [];
  for (const { id } of unfinished) {
    if ((await workflowStatus(client, id)) === null) forgotten.push(id);
  }
  for (const crawlId of forgotten)
    await findOrStartCrawl({ client, db, config, crawlId, request: null, options: {} });
  return forgotten;
}

/**
 * Resolves when the crawl's workflow has ended, cancelled or not. Rejects if it failed (with BadInput if its input was
 * refused) or if the worker of this process failed. Retries while the server is unavailable.
 */
export async function waitForEnd(
  handle: WorkflowHandle,
  worker: RunningWorker | null,
  retry: Pick<RetryOptions, 'log' | 'signal'>,
): Promise<void> {
  const result = workflowResult(handle, retry).catch((error: unknown) => {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    if (cause instanceof CancelledFailure) return;
    if (cause instanceof ApplicationFailure && cause.type === 'BadInput') throw new BadInput(cause.message);
    throw cause ?? error;
  });
  await (worker ? Promise.race([result, worker.failed]) : result);
}

async function workflowResult(
  handle: WorkflowHandle,
  retry: Pick<RetryOptions, 'log' | 'signal'>,
): Promise<unknown> {
  for (;;) {
    try {
      return await handle.result();
    } catch (error) {
      if (retry.signal.aborted || !isTemporalUnavailable(error)) throw error;
      // A call that returns at once: the result may be hours away when the server is back.
      await retryWhileUnavailable(() => handle.describe(), {
        what: 'Temporal',
        isUnavailable: isTemporalUnavailable,
        ...retry,
      });
    }
  }
}

/** A crawl exists once its first activity has opened it; until then its input may still be refused. */
export async function waitUntilOpened(
  db: Database,
  crawlId: string,
  ended: Promise<void>,
): Promise<Progress> {
  // A failure during a database read must not count as unhandled; the race below throws it.
  ended.catch(() => undefined);
  for (let over = false; !over; ) {
    const progress = await readProgress(db, crawlId);
    if (progress) return progress;
    over = await Promise.race([ended.then(() => true), sleep(POLL_INTERVAL_MS, false)]);
  }
  throw new Error(`Crawl ${crawlId} was ended by someone else before it had started.`);
}
