/** Has the failed pages of a crawl tried again, also of one that has ended. */
import { randomUUID } from 'node:crypto';
import type { AmbleConfig } from '../config/index.ts';
import { BadInput } from '../core/errors.ts';
import type { OrderOrigin } from '../core/order.ts';
import { type CrawlRecord, findCrawl } from '../storage/crawls.ts';
import { type RetrySelection, retryBatch } from '../storage/frontier/retry.ts';
import { notify, type RowOperation } from './crawl-orders.ts';
import { CrawlConflict, NoWorker, UnknownCrawl } from './errors.ts';
import { type Operation, wakeCrawl } from './start-crawl.ts';

export interface RetryOrder {
  /** For `readRetryProgress`. */
  id: string;
  pages: number;
}

/**
 * Without a client, the pages are queued, and wait until the crawl is resumed. So they do if Temporal is unavailable; throws NoWorker then
 * if the crawl had ended, because no workflow will find them.
 */
export async function retryPages(
  on: RowOperation & { config: AmbleConfig },
  crawlId: string,
  selection: RetrySelection,
  origin: OrderOrigin,
): Promise<RetryOrder> {
  const order = { id: randomUUID(), kind: 'retry', origin } as const;
  const wasOpen = isUnfinished(await findCrawl(on.db, crawlId));
  let pages = 0;
  for (let more = true; more; ) {
    const batch = await retryBatch(on.db, crawlId, order, selection, pages);
    if (batch.kind !== 'queued') throw refusal(crawlId, batch.kind);
    pages = batch.total;
    more = batch.pages > 0;
  }
  // An open crawl without such pages too: perhaps Temporal was unavailable when they were queued.
  if (on.client !== null && (wasOpen || pages > 0))
    await wake({ ...on, client: on.client }, crawlId, wasOpen);
  return { id: order.id, pages };
}

async function wake(on: Operation, crawlId: string, wasOpen: boolean): Promise<void> {
  if ((await notify(on.client, () => wakeCrawl(on, crawlId))) || wasOpen) return;
  throw new NoWorker(
    `The pages are queued again, but Temporal is unavailable, and crawl ${crawlId} had ended: retry once more when Temporal is back.`,
  );
}

function isUnfinished(crawl: CrawlRecord | null): boolean {
  return crawl?.status === 'Running' || crawl?.status === 'Paused';
}

function refusal(crawlId: string, kind: 'unknown-crawl' | 'cancelling' | 'budget-used'): BadInput {
  switch (kind) {
    case 'unknown-crawl':
      return new UnknownCrawl(crawlId);
    case 'cancelling':
      return new CrawlConflict(`Crawl ${crawlId} is being cancelled; retry its pages when it has ended.`);
    case 'budget-used':
      return new CrawlConflict(`Crawl ${crawlId} has fetched as many pages as it may (maxPages).`);
  }
}

/** `timeout`, `status/503`: a kind of error and a status code, as "amble status" and the dashboard show them. */
export function parseCause(typed: string): RetrySelection {
  const [, errorKind, statusCode] = /^([a-z0-9-]+)(?:\/(\d{3}))?$/.exec(typed) ?? [];
  if (errorKind === undefined)
    throw new BadInput(
      `Invalid cause ${JSON.stringify(typed)}: give a kind of error such as timeout, or status/503.`,
    );
  return { errorKind, ...(statusCode !== undefined && { statusCode: Number(statusCode) }) };
}
