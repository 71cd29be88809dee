/** Where a part of the list of crawls ends: whether its last crawl has ended, when it began, and its id. */
import { BadInput } from '../core/errors.ts';
import type { CrawlOverview, CrawlPlace } from '../storage/reports/overview.ts';

export const CRAWLS_CURSOR = /^(open|ended)~([12]\d{3}-\d\d-\d\dT[\d:.]+Z)~([\w.-]{1,100})$/;

/** null: the list ends with these. */
export function nextCrawls(crawls: readonly CrawlOverview[], limit: number): string | null {
  const last = crawls.at(-1);
  if (last === undefined || crawls.length < limit) return null;
  return `${last.finishedAt === null ? 'open' : 'ended'}~${last.createdAt.toISOString()}~${last.id}`;
}

/** Throws BadInput. */
export function parseCrawlsCursor(text: string): CrawlPlace {
  const [, state, at, id] = CRAWLS_CURSOR.exec(text) ?? [];
  const createdAt = new Date(at ?? '');
  if (id === undefined || Number.isNaN(createdAt.getTime()))
    throw new BadInput('"after" is not the end of another part of the list.');
  return { ended: state === 'ended', createdAt, id };
}
