/** Crawls as the command line meets them: new ones, running ones, and ones whose processes died. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Client, WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { type AmbleConfig, BadInput, type CrawlRequest, writeCrawlInput } from '../../config/index.ts';
import type { Database } from '../../storage/database.ts';
import { type Progress, readProgress } from '../../storage/reports/progress.ts';
import { isTemporalUnavailable } from '../../worker/temporal-connection.ts';
import type { RunningWorker } from '../../worker/worker.ts';
import { commandLine } from '../render/command-line.ts';
import { hasEnded } from './has-ended.ts';
import { type Patience, patiently } from './retry-while-unavailable.ts';
import { workflowStatus } from './workflow-status.ts';

const LOOK_EVERY_MS = 200;

export type CrawlAtHand =
  | { kind: 'ended'; progress: Progress }
  /** `known`: it had begun before this command came. */
  | { kind: 'open'; handle: WorkflowHandle; known: boolean };

export interface Reach {
  client: Client;
  db: Database;
  config: AmbleConfig;
  crawlId: string;
  /** What a new crawl would begin with; null: only a crawl that exists will do. */
  request: CrawlRequest | null;
}

/**
 * Finds the crawl of this id or starts it. A crawl that has not ended but whose workflow is gone is taken up again: its
 * rows say where it stood, and opening it a second time changes nothing.
 */
export async function reachCrawl({ client, db, config, crawlId, request }: Reach): Promise<CrawlAtHand> {
  const row = await db.crawl.findUnique({ where: { id: crawlId }, select: { seeds: true } });
  const progress = row ? await readProgress(db, crawlId) : null;
  if (progress && hasEnded(progress)) return { kind: 'ended', progress };

  // The settings it began with are in its row, and those count.
  const urls = row?.seeds ?? request?.seeds.map(({ url }) => url) ?? [];
  const input = row ? { seeds: row.seeds } : request && writeCrawlInput(request, config.politenessKey);
  if (!input) {
    const handle = client.workflow.getHandle(crawlId);
    if ((await workflowStatus(client, crawlId)) === 'RUNNING') return { kind: 'open', handle, known: true };
    throw new BadInput(
      `There is no crawl named ${crawlId}; give it URLs to start one, or see "${commandLine(['status'], {})}".`,
    );
  }
  const handle = await client.workflow.start('Crawl', {
    workflowId: crawlId,
    taskQueue: config.taskQueue,
    args: [input],
    workflowIdConflictPolicy: 'USE_EXISTING',
    // Whether a crawl has ended is for its row to say: the server forgets.
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    staticSummary: `crawl from ${urls.slice(0, 3).join(', ')}`,
  });
  return { kind: 'open', handle, known: row !== null };
}

/**
 * Takes up every unfinished crawl of which the server knows nothing, because its data was lost, and returns their ids. One
 * whose workflow somebody terminated is known and left alone, for as long as the server remembers it (a day, with an embedded
 * one): to end a crawl for good is to cancel it, which its row remembers.
 */
export async function takeUpForgotten({
  client,
  db,
  config,
}: Pick<Reach, 'client' | 'db' | 'config'>): Promise<string[]> {
  const unfinished = await db.crawl.findMany({ where: { finishedAt: null }, select: { id: true } });
  const forgotten: string[] = [];
  for (const { id } of unfinished) {
    if ((await workflowStatus(client, id)) === null) forgotten.push(id);
  }
  for (const crawlId of forgotten) await reachCrawl({ client, db, config, crawlId, request: null });
  return forgotten;
}

/**
 * Settles when the crawl's workflow has ended; a cancelled one has. Rejects if it failed (with BadInput if that is why),
 * or if the worker of this process did. A server that is away is waited for.
 */
export async function endOf(
  handle: WorkflowHandle,
  worker: RunningWorker | null,
  patience: Pick<Patience, 'say' | 'enough'>,
): Promise<void> {
  const result = resultOf(handle, patience).catch((error: unknown) => {
    const cause = error instanceof WorkflowFailedError ? error.cause : undefined;
    if (cause instanceof CancelledFailure) return;
    if (cause instanceof ApplicationFailure && cause.type === 'BadInput') throw new BadInput(cause.message);
    throw cause ?? error;
  });
  await (worker ? Promise.race([result, worker.failed]) : result);
}

async function resultOf(
  handle: WorkflowHandle,
  patience: Pick<Patience, 'say' | 'enough'>,
): Promise<unknown> {
  for (;;) {
    try {
      return await handle.result();
    } catch (error) {
      if (patience.enough.aborted || !isTemporalUnavailable(error)) throw error;
      // Something that is answered at once: the result may be hours away when the server is back.
      await patiently(() => handle.describe(), {
        what: 'Temporal',
        isAway: isTemporalUnavailable,
        ...patience,
      });
    }
  }
}

/** A crawl exists once its first activity has opened it; until then its input may still be refused. */
export async function untilOpened(db: Database, crawlId: string, ended: Promise<void>): Promise<Progress> {
  // It may fail while the database is being read; the race below hears of it after that.
  ended.catch(() => undefined);
  for (let over = false; !over; ) {
    const progress = await readProgress(db, crawlId);
    if (progress) return progress;
    over = await Promise.race([ended.then(() => true), sleep(LOOK_EVERY_MS, false)]);
  }
  throw new Error(`Crawl ${crawlId} was ended by somebody before it had begun.`);
}
