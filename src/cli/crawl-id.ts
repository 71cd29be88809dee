/** Names of crawls: typed by people, part of workflow ids and of shell commands. */
import { BadInput } from '../config/index.ts';

const CRAWL_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export function checkCrawlId(id: string): string {
  if (CRAWL_ID.test(id)) return id;
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
