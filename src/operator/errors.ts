/** Why an order cannot be carried out. Each message is a sentence for the operator. */
import { BadInput } from '../core/errors.ts';

export class UnknownCrawl extends BadInput {
  constructor(readonly crawlId: string) {
    super(`There is no crawl named ${crawlId}.`);
  }
}

/** The crawl, or everything, is not in a state that allows the order. */
export class CrawlConflict extends BadInput {}

/** Nothing runs that could carry out the order. It may be carried out later. */
export class NoWorker extends Error {
  override readonly name = 'NoWorker';
}
