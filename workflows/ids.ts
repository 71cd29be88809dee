/** Names of workflows and task queues: one place, because the server knows them only by these strings. */

export const throttleId = (domain: string): string => `throttle:${domain}`;

const READABLE_LENGTH = 80;
const HASH_LENGTH = 24;

/**
 * The beginning of the URL is for people, who look for a page in a list of ids; the hash makes it unique. A whole URL may
 * be longer than the 255 characters that an id may have on Postgres.
 */
export function pageWorkflowId(crawlId: string, { url, urlHash }: { url: string; urlHash: string }): string {
  const readable = url.replace(/^https?:\/\//, '').slice(0, READABLE_LENGTH);
  return `page:${crawlId}:${readable}:${urlHash.slice(0, HASH_LENGTH)}`;
}

/** Its own queue and worker: a throttle must answer while every page of the other worker is busy asking it. */
export const throttleQueue = (taskQueue: string): string => `${taskQueue}-throttle`;

/**
 * For the steps that are not local. Pages and their fetches share the main queue, because the server then hands a fetch to
 * the worker that asks for it, with the very answer; but a fetch may take a minute, and nothing else may wait behind it.
 */
export const stepQueue = (taskQueue: string): string => `${taskQueue}-step`;
