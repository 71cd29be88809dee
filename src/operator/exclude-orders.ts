/** Excludes URLs from a crawl while it runs. */
import { randomUUID } from 'node:crypto';
import { BadInput } from '../core/errors.ts';
import type { OrderOrigin } from '../core/order.ts';
import { addExcluded, MAX_EXCLUDED, rejectPending } from '../storage/frontier/exclude.ts';
import { type RowOperation, requestSweep } from './crawl-orders.ts';
import { CrawlConflict, UnknownCrawl } from './errors.ts';

/** Longer than any URL that a crawl accepts by default. */
export const MAX_PATTERN_LENGTH = 2_000;

/** As in the settings of a crawl: see src/urls/pattern.ts. */
export function parsePattern(typed: string): string {
  // Postgres stores neither NUL nor halves of surrogate pairs.
  const isPattern = /^(?:\/|\*|https?:)[^\0\p{Cs}]*$/u.test(typed);
  if (isPattern && typed.length <= MAX_PATTERN_LENGTH) return typed;
  throw new BadInput(
    `Invalid pattern ${JSON.stringify(typed.slice(0, 100))}: give a path such as "/calendar/*" or a URL such as "https://*.example.org/*".`,
  );
}

/** Returns the number of pending pages that were rejected. Pages in progress stop at their next slot. */
export async function excludePattern(
  { client, db }: RowOperation,
  crawlId: string,
  pattern: string,
  origin: OrderOrigin,
): Promise<number> {
  const order = { id: randomUUID(), kind: 'exclude', origin } as const;
  const result = await addExcluded(db, crawlId, order, pattern);
  if (result === 'unknown-crawl') throw new UnknownCrawl(crawlId);
  if (result === 'ended')
    throw new CrawlConflict(
      `Crawl ${crawlId} has ended or is being cancelled; nothing can be excluded from it.`,
    );
  if (result === 'too-many')
    throw new CrawlConflict(
      `Crawl ${crawlId} has ${MAX_EXCLUDED} excluded patterns already; that is the most.`,
    );
  const rejected = await rejectPending(db, crawlId, order, pattern);
  if (client !== null) await requestSweep(client, crawlId);
  return rejected;
}
