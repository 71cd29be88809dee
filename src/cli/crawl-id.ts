/** Names of crawls as people type them, or as one is made for them. */
import { BadInput } from '../config/index.ts';
import { isCrawlId } from '../core/crawl-id.ts';

export function checkCrawlId(id: string): string {
  if (isCrawlId(id)) return id;
  throw new BadInput(
    `--id is ${JSON.stringify(id)}, but must be at most 100 letters, digits, dots, dashes or underscores, the first a letter or digit.`,
  );
}

/** `example.org-20260131-093000`: says what and when, and sorts. */
export function newCrawlId(firstSeed: string, now: Date): string {
  const host = new URL(firstSeed).hostname.replaceAll(/[^A-Za-z0-9.-]/g, '-').replace(/^[^A-Za-z0-9]+/, '');
  const stamp = now.toISOString().replaceAll(/[-:]/g, '').replace('T', '-').slice(0, 15);
  return `${host.slice(0, 80) || 'crawl'}-${stamp}`;
}
