/** `amble cancel`: ends a crawl in order, whoever else is working on it. */
import { reachCrawl } from '../connect/crawls.ts';
import { withSession } from '../connect/session.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderSummary } from '../render/summary.ts';
import { print, say } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';
import { watchCrawl } from '../watch.ts';

export async function cancelCommand(crawlId: string, options: CommonOptions): Promise<ExitCode> {
  const config = configFor(options);
  // A worker of its own: pages step down by themselves, and there may be nobody else to run them.
  return withSession(config, { worker: 'file', say }, async (session, interrupts) => {
    const crawl = await reachCrawl({ ...session, config, crawlId, request: null });
    if (crawl.kind === 'ended') {
      say(`Crawl ${crawlId} has already ended.`);
      for (const line of renderSummary(crawl.progress)) print(line);
      return EXIT.ok;
    }
    await crawl.handle.cancel();
    say(`Cancelling crawl ${crawlId}: its open pages step down.`);
    const { db, worker } = session;
    const { handle } = crawl;
    const progress = await watchCrawl({ db, crawlId, handle, worker, leave: interrupts.first });
    for (const line of progress ? renderSummary(progress) : []) print(line);
    return interrupts.first.aborted ? EXIT.interrupted : EXIT.ok;
  });
}
