/** `amble cancel`: ends a crawl in order, no matter which processes work on it. */
import { cancelCrawl } from '../../operator/crawl-orders.ts';
import { configFor } from '../common-options.ts';
import { joinOrStartCrawl } from '../connect/crawls.ts';
import { withSession } from '../connect/session.ts';
import { cliOrigin, type OrderOptions } from '../order-options.ts';
import { renderSummary } from '../render/crawl.ts';
import { EXIT, type ExitCode, writeErr, writeOut } from '../terminal.ts';
import { watchCrawl } from '../watch-crawl.ts';

export async function cancelCommand(crawlId: string, options: OrderOptions): Promise<ExitCode> {
  const config = configFor(options);
  const origin = cliOrigin(options);
  // With a worker: the page workflows end themselves, and no other worker may be running.
  return withSession(config, { worker: 'file' }, async (session, interrupts) => {
    const crawl = await joinOrStartCrawl({ ...session, config, crawlId, request: null }, options);
    if (crawl.kind === 'ended') {
      writeErr(`Crawl ${crawlId} has already ended.`);
      for (const line of renderSummary(crawl.progress)) writeOut(line);
      return EXIT.ok;
    }
    const handle = await cancelCrawl({ ...session, config }, crawlId, origin);
    writeErr(`Cancelling crawl ${crawlId} and its open pages.`);
    const { db, worker } = session;
    const progress = await watchCrawl({ db, crawlId, handle, worker, leave: interrupts.first });
    for (const line of progress ? renderSummary(progress) : []) writeOut(line);
    return interrupts.first.aborted ? EXIT.interrupted : EXIT.ok;
  });
}
