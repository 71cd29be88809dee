/** `amble pause` and `amble resume`. No worker is needed for them. */
import type { AmbleConfig } from '../../config/index.ts';
import { pauseCrawl, type RowOperation, resumeCrawl } from '../../operator/crawl-orders.ts';
import { UnknownCrawl } from '../../operator/errors.ts';
import { configFor, formatCommand, unknownCrawl } from '../common-options.ts';
import { withDatabaseAndTemporal } from '../connect/read-session.ts';
import { readWorkStatus } from '../connect/worker-status.ts';
import { cliOrigin, type OrderOptions } from '../order-options.ts';
import { describeInactive } from '../render/crawl.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';

export function pauseCommand(crawlId: string, options: OrderOptions): Promise<ExitCode> {
  const origin = cliOrigin(options);
  return withCrawl(crawlId, options, configFor(options), async (on) => {
    await pauseCrawl(on, crawlId, origin);
    const inProgress = await on.db.page.count({ where: { crawlId, status: 'Queued' } });
    writeOut(
      inProgress === 0
        ? `Crawl ${crawlId} is paused.`
        : `Crawl ${crawlId} is paused; ${inProgress} ${inProgress === 1 ? 'page in progress stops at its' : 'pages in progress stop at their'} next slot.`,
    );
    writeOut(`To resume it: ${formatCommand(['resume', crawlId], options)}`);
  });
}

export function resumeCommand(crawlId: string, options: OrderOptions): Promise<ExitCode> {
  const origin = cliOrigin(options);
  const config = configFor(options);
  return withCrawl(crawlId, options, config, async (on) => {
    await resumeCrawl(on, crawlId, origin);
    writeOut(`Crawl ${crawlId} is resumed.`);
    // A delivered signal proves nothing: the server keeps it for a worker that may never come.
    const work = (await readWorkStatus(config, [crawlId])).get(crawlId);
    if (work?.active === false) writeOut(describeInactive(crawlId, work.reason, options));
  });
}

async function withCrawl(
  crawlId: string,
  options: OrderOptions,
  config: AmbleConfig,
  work: (on: RowOperation) => Promise<void>,
): Promise<ExitCode> {
  return withDatabaseAndTemporal(config, async (db, client) => {
    try {
      if (db === null) throw new UnknownCrawl(crawlId);
      await work({ db, client });
      return EXIT.ok;
    } catch (error) {
      throw error instanceof UnknownCrawl ? unknownCrawl(crawlId, options) : error;
    }
  });
}
