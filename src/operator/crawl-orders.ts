/** Orders about a crawl. Its row decides whether it runs, so they take effect even if no worker is running. */
import { randomUUID } from 'node:crypto';
import { type Client, type WorkflowHandle, WorkflowNotFoundError } from '@temporalio/client';
import { cancelCrawlUpdate, sweepSignal } from '../../workflows/messages.ts';
import type { CrawlOrder } from '../core/activities.ts';
import type { OrderOrigin } from '../core/order.ts';
import { applyCrawlOrder, findCrawl } from '../storage/crawls.ts';
import type { Database } from '../storage/database.ts';
import { isTemporalUnavailable } from '../temporal/connection.ts';
import { CrawlConflict, NoWorker, UnknownCrawl } from './errors.ts';
import { findOrStartCrawl, type Operation } from './start-crawl.ts';

/** Without a client, the crawl's workflow learns of the order at its next sweep. */
export interface RowOperation {
  client: Client | null;
  db: Database;
}

/** No page is admitted from now on, and pages in progress stop at their next slot. */
export function pauseCrawl(on: RowOperation, crawlId: string, origin: OrderOrigin): Promise<void> {
  return giveOrder(on, crawlId, { id: randomUUID(), kind: 'pause', origin });
}

export function resumeCrawl(on: RowOperation, crawlId: string, origin: OrderOrigin): Promise<void> {
  return giveOrder(on, crawlId, { id: randomUUID(), kind: 'resume', origin });
}

/** Returns once the order is on record. The workflow then ends the pages, and its handle resolves when all have ended. */
export async function cancelCrawl(
  on: Operation,
  crawlId: string,
  origin: OrderOrigin,
): Promise<WorkflowHandle> {
  const found = await findOrStartCrawl({ ...on, crawlId, request: null });
  if (found.kind === 'ended') throw new CrawlConflict(`Crawl ${crawlId} has already ended.`);
  const { handle } = found;
  const recorded = await applyCrawlOrder(on.db, crawlId, { id: randomUUID(), kind: 'cancel', origin });
  // A crawl that is being opened has no row yet: its workflow records the order when it has one.
  if (!recorded && (await findCrawl(on.db, crawlId)) === null)
    await whileOpening(on.client, crawlId, () => handle.executeUpdate(cancelCrawlUpdate, { args: [origin] }));
  await notify(on.client, () => handle.cancel());
  return handle;
}

/** A worker opens a crawl within moments. */
const OPENED_WITHIN_MS = 10_000;

async function whileOpening(client: Client, crawlId: string, send: () => Promise<unknown>): Promise<void> {
  try {
    await client.withDeadline(Date.now() + OPENED_WITHIN_MS, send);
  } catch (error) {
    if (!isTemporalUnavailable(error)) throw error;
    throw new NoWorker(
      `No worker opens crawl ${crawlId}, so it cannot be cancelled yet: start one with "amble up" or "amble worker".`,
    );
  }
}

const PARTICIPLES = { pause: 'paused', resume: 'resumed', cancel: 'cancelled' } as const;

async function giveOrder({ client, db }: RowOperation, crawlId: string, order: CrawlOrder): Promise<void> {
  if (!(await applyCrawlOrder(db, crawlId, order))) {
    const crawl = await findCrawl(db, crawlId);
    if (crawl === null) throw new UnknownCrawl(crawlId);
    throw new CrawlConflict(
      `Crawl ${crawlId} is ${crawl.status}; only an unfinished crawl can be ${PARTICIPLES[order.kind]}.`,
    );
  }
  if (client !== null) await requestSweep(client, crawlId);
}

/** Makes a running workflow look at its rows now, not at its next sweep. Returns false if Temporal is unavailable. */
export function requestSweep(client: Client, crawlId: string): Promise<boolean> {
  return notify(client, () => client.workflow.getHandle(crawlId).signal(sweepSignal));
}

/** The order is on record, and whoever gave it waits for the answer. */
const NOTIFY_TIMEOUT_MS = 2_000;

/** Returns false if Temporal is unavailable. An order has been carried out even then: the next sweep of the crawl finds it in its row. */
export async function notify(client: Client, send: () => Promise<unknown>): Promise<boolean> {
  try {
    await client.withDeadline(Date.now() + NOTIFY_TIMEOUT_MS, send);
    return true;
  } catch (error) {
    if (isTemporalUnavailable(error)) return false;
    // It has ended.
    if (error instanceof WorkflowNotFoundError) return true;
    throw error;
  }
}
