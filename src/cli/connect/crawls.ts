/** Crawls as commands follow them: until they are open, and to their end. */
import { setTimeout as sleep } from 'node:timers/promises';
import { WorkflowFailedError, type WorkflowHandle } from '@temporalio/client';
import { ApplicationFailure, CancelledFailure } from '@temporalio/common';
import { BadInput } from '../../config/index.ts';
import { UnknownCrawl } from '../../operator/errors.ts';
import { type CrawlTarget, type FoundCrawl, findOrStartCrawl } from '../../operator/start-crawl.ts';
import type { Database } from '../../storage/database.ts';
import { type Progress, readProgress } from '../../storage/reports/progress.ts';
import { isTemporalUnavailable } from '../../temporal/connection.ts';
import type { RunningWorker } from '../../worker/worker.ts';
import { type CommonOptions, formatCommand } from '../common-options.ts';
import { type RetryOptions, retryWhileUnavailable } from './retry-while-unavailable.ts';

const POLL_INTERVAL_MS = 200;

/** With a command to copy if there is no such crawl. */
export async function joinOrStartCrawl(target: CrawlTarget, options: CommonOptions): Promise<FoundCrawl> {
  try {
    return await findOrStartCrawl(target);
  } catch (error) {
    if (!(error instanceof UnknownCrawl)) throw error;
    throw new BadInput(
      `There is no crawl named ${error.crawlId}; add URLs to start one, or list the crawls with "${formatCommand(['status'], options)}".`,
    );
  }
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
