/** What may name a crawl: it is part of workflow ids, of shell commands, and stands in the quotes of a visibility query. */

const CRAWL_ID = /^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export function isCrawlId(id: string): boolean {
  return CRAWL_ID.test(id);
}
