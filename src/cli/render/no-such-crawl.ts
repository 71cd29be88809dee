/** What people hear who name a crawl that is not there. */
import { BadInput } from '../../config/index.ts';
import type { CommonOptions } from '../settings.ts';
import { commandLine } from './command-line.ts';

export function noSuchCrawl(crawlId: string, options: CommonOptions): BadInput {
  return new BadInput(
    `There is no crawl named ${crawlId}; "${commandLine(['status'], options)}" lists them.`,
  );
}
