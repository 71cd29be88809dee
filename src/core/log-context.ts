/** What every line of the log says about the page or crawl that it belongs to, wherever in the program it is written. */
import { AsyncLocalStorage } from 'node:async_hooks';

export interface LogFields {
  workflowId?: string;
  crawlId?: string;
  pageId?: string;
  domain?: string;
  attempt?: number;
}

const context = new AsyncLocalStorage<LogFields>();

export function withLogFields<T>(fields: LogFields, work: () => T): T {
  return context.run(fields, work);
}

export function currentLogFields(): LogFields {
  return context.getStore() ?? {};
}
