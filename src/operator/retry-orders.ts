/** Has the failed pages of a crawl tried again, also of one that has ended. */
import { randomUUID } from 'node:crypto';
import type { AmbleConfig } from '../config/index.ts';
import { BadInput } from '../core/errors.ts';
import type { OrderOrigin } from '../core/order.ts';
import { type RetrySelection, retryBatch } from '../storage/frontier/retry.ts';
import type { RowOperation } from './crawl-orders.ts';
import { CrawlConflict, UnknownCrawl } from './errors.ts';
import { wakeCrawl } from './start-crawl.ts';

export interface RetryOrder {
  /** For `readRetryProgress`. */
  id: string;
  pages: number;
}

/** Without a client, the pages are queued, and wait until the crawl is resumed. */
export async function retryPages(
  on: RowOperation & { config: AmbleConfig },
  crawlId: string,
  selection: RetrySelection,
  origin: OrderOrigin,
): Promise<RetryOrder> {
  const order = { id: randomUUID(), kind: 'retry', origin } as const;
  for (let pages = 0; ; ) {
    const batch = await retryBatch(on.db, crawlId, order, selection, pages);
    if (batch.kind !== 'queued') throw refusal(crawlId, batch.kind);
    if (batch.pages === 0) return { id: order.id, pages };
    pages = batch.total;
    const { client } = on;
    if (client !== null) await wakeCrawl({ ...on, client }, crawlId);
  }
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
