/** `amble retry`: has failed pages tried again, also those of a crawl that has ended. */
import { parseDomain } from '../../operator/domains.ts';
import { parseCause, retryPages } from '../../operator/retry-orders.ts';
import { findCrawl } from '../../storage/crawls.ts';
import { previewRetry } from '../../storage/frontier/retry.ts';
import { configFor, formatCommand, unknownCrawl } from '../common-options.ts';
import { withDatabaseAndTemporal } from '../connect/read-session.ts';
import { readWorkStatus } from '../connect/worker-status.ts';
import { cliOrigin, type OrderOptions } from '../order-options.ts';
import { describeInactive } from '../render/crawl.ts';
import { renderRetryPreview } from '../render/orders.ts';
import { formatPlural } from '../render/text.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';

export interface RetryCommandOptions extends OrderOptions {
  cause?: string;
  domain?: string;
  preview?: boolean;
}

export async function retryCommand(crawlId: string, options: RetryCommandOptions): Promise<ExitCode> {
  const config = configFor(options);
  const origin = cliOrigin(options);
  const selection = {
    ...(options.cause !== undefined && parseCause(options.cause)),
    ...(options.domain !== undefined && { domain: parseDomain(options.domain, config.politenessKey) }),
  };
  return withDatabaseAndTemporal(config, async (db, client) => {
    if (db === null || (await findCrawl(db, crawlId)) === null) throw unknownCrawl(crawlId, options);
    if (options.preview) {
      const preview = await previewRetry(db, crawlId, selection);
      for (const line of renderRetryPreview(crawlId, preview)) writeOut(line);
      return EXIT.ok;
    }
    const { pages } = await retryPages({ db, client, config }, crawlId, selection, origin);
    if (pages === 0) {
      writeOut(`Crawl ${crawlId} has no such failed pages.`);
      return EXIT.ok;
    }
    writeOut(
      `${formatPlural(pages, 'failed page')} of crawl ${crawlId} ${pages === 1 ? 'is' : 'are'} queued again.`,
    );
    const work = (await readWorkStatus(config, [crawlId])).get(crawlId);
    if (work?.active === false) writeOut(describeInactive(crawlId, work.reason, options));
    else writeOut(`To see how far they are: ${formatCommand(['status', crawlId], options)}`);
    return EXIT.ok;
  });
}
