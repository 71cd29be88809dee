/** Names of workflows and task queues: one place, because the server knows them only by these strings. */

export const throttleId = (domain: string): string => `throttle:${domain}`;

/** By hash, since a URL may be longer than the 255 characters an id may have on Postgres. */
export const pageWorkflowId = (crawlId: string, urlHashHex: string): string =>
  `page:${crawlId}:${urlHashHex.slice(0, 32)}`;

/** Its own queue and worker: a throttle must answer while every page of the other worker is busy asking it. */
export const throttleQueue = (taskQueue: string): string => `${taskQueue}-throttle`;

/** Its own queue: a fetch may take a minute, and nothing else may wait behind it. */
export const fetchQueue = (taskQueue: string): string => `${taskQueue}-fetch`;
