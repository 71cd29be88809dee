/** Ids of workflows and names of task queues, in one place because the server knows them only by these strings. */

/** In bytes, and ids are ASCII: Temporal keeps them in a column of this size on Postgres. */
const MAX_ID_LENGTH = 255;

/** A host name may have 253 characters, so the longest ones fit only behind a short prefix. */
export function throttleId(domain: string): string {
  const id = `throttle:${domain}`;
  return id.length <= MAX_ID_LENGTH ? id : `t:${domain}`;
}

const READABLE_LENGTH = 80;
const HASH_LENGTH = 24;

/**
 * The beginning of the URL is for people who look for a page in a list of ids; the hash makes the id unique. A whole URL may be
 * longer than an id may be.
 */
export function pageWorkflowId(crawlId: string, { url, urlHash }: { url: string; urlHash: string }): string {
  const readable = url.replace(/^https?:\/\//, '').slice(0, READABLE_LENGTH);
  return `page:${crawlId}:${readable}:${urlHash.slice(0, HASH_LENGTH)}`;
}

/** Throttles have a queue and a worker of their own: they must answer while the pages' worker is busy asking them. */
export const throttleQueue = (taskQueue: string): string => `${taskQueue}-throttle`;

/**
 * For steps that are not local activities. Pages and their fetches share the main queue, because the server can then return a
 * fetch to the same worker at once. But a fetch may take a minute, and no other step may wait behind it.
 */
export const stepQueue = (taskQueue: string): string => `${taskQueue}-step`;

/**
 * A crawl's id is its workflow's id. It is part of shell commands, and stands in the quotes of a visibility query. With ".json" behind it
 * is another page of the dashboard.
 */
const CRAWL_ID = /^(?!.*\.json$)[A-Za-z0-9][A-Za-z0-9._-]{0,99}$/;

export function isCrawlId(id: string): boolean {
  return CRAWL_ID.test(id);
}
