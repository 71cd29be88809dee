/** `amble pause` and `amble resume`: the crawl's row decides whether it runs, so no worker is needed to change that. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { sweepSignal } from '../../../workflows/messages.ts';
import { BadInput } from '../../config/index.ts';
import { findCrawl, setPaused } from '../../storage/crawls.ts';
import type { Database } from '../../storage/database.ts';
import { type CommonOptions, configFor, formatCommand, unknownCrawl } from '../common-options.ts';
import { withDatabase } from '../connect/read-session.ts';
import { joinTemporal } from '../connect/temporal-client.ts';
import { readWorkStatus } from '../connect/worker-status.ts';
import { describeInactive } from '../render/crawl.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';

export function pauseCommand(crawlId: string, options: CommonOptions): Promise<ExitCode> {
  return withCrawl(crawlId, options, async (db) => {
    await setCrawlPaused(db, crawlId, true);
    const inProgress = await db.page.count({ where: { crawlId, status: 'Queued' } });
    writeOut(
      inProgress === 0
        ? `Crawl ${crawlId} is paused.`
        : `Crawl ${crawlId} is paused; ${inProgress} ${inProgress === 1 ? 'page in progress stops at its' : 'pages in progress stop at their'} next slot.`,
    );
    await nudge(crawlId, options);
    writeOut(`To resume it: ${formatCommand(['resume', crawlId], options)}`);
  });
}

export function resumeCommand(crawlId: string, options: CommonOptions): Promise<ExitCode> {
  return withCrawl(crawlId, options, async (db) => {
    await setCrawlPaused(db, crawlId, false);
    await nudge(crawlId, options);
    writeOut(`Crawl ${crawlId} is resumed.`);
    // A delivered signal proves nothing: the server keeps it for a worker that may never come.
    const work = (await readWorkStatus(configFor(options), [crawlId])).get(crawlId);
    if (work?.active === false) writeOut(describeInactive(crawlId, work.reason, options));
  });
}

async function withCrawl(
  crawlId: string,
  options: CommonOptions,
  work: (db: Database) => Promise<void>,
): Promise<ExitCode> {
  return withDatabase(configFor(options), async (db) => {
    if (db === null || (await findCrawl(db, crawlId)) === null) throw unknownCrawl(crawlId, options);
    await work(db);
    return EXIT.ok;
  });
}

async function setCrawlPaused(db: Database, crawlId: string, paused: boolean): Promise<void> {
  if (await setPaused(db, crawlId, paused)) return;
  const crawl = await findCrawl(db, crawlId);
  throw new BadInput(
    `Crawl ${crawlId} is ${crawl?.status}; only an unfinished crawl can be ${paused ? 'paused' : 'resumed'}.`,
  );
}

/** Makes a running workflow look at its row now, not at its next sweep. */
async function nudge(crawlId: string, options: CommonOptions): Promise<void> {
  const temporal = await joinTemporal(configFor(options));
  if (temporal === null) return;
  try {
    await temporal.client.workflow.getHandle(crawlId).signal(sweepSignal);
  } catch (error) {
    if (!(error instanceof WorkflowNotFoundError)) throw error;
  } finally {
    await temporal.close();
  }
}
