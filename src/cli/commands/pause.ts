/** `amble pause` and `amble resume`: a crawl's row says whether it goes on, so no worker is needed to change that. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { sweepSignal } from '../../../workflows/messages.ts';
import { BadInput } from '../../config/index.ts';
import { findCrawl, setPaused } from '../../storage/crawls.ts';
import type { Database } from '../../storage/database.ts';
import { joinTemporal } from '../connect/join-temporal.ts';
import { openStore } from '../connect/store.ts';
import { whoIsAtWork } from '../connect/worker-status.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { commandLine } from '../render/command-line.ts';
import { noSuchCrawl } from '../render/no-such-crawl.ts';
import { print } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';

export function pauseCommand(crawlId: string, options: CommonOptions): Promise<ExitCode> {
  return inStore(crawlId, options, async (db) => {
    await change(db, crawlId, true);
    const underWay = await db.page.count({ where: { crawlId, status: 'Queued' } });
    print(
      underWay === 0
        ? `Crawl ${crawlId} is paused.`
        : `Crawl ${crawlId} is paused; ${underWay} pages that have begun step aside when their turn comes.`,
    );
    await nudge(crawlId, options);
    print(`To let it go on: ${commandLine(['resume', crawlId], options)}`);
  });
}

export function resumeCommand(crawlId: string, options: CommonOptions): Promise<ExitCode> {
  return inStore(crawlId, options, async (db) => {
    await change(db, crawlId, false);
    await nudge(crawlId, options);
    print(`Crawl ${crawlId} is resumed.`);
    // That the word was taken says nothing: the server keeps it for a worker that may never come.
    const atWork = (await whoIsAtWork(configFor(options), [crawlId])).get(crawlId);
    if (atWork?.working === false)
      print(
        `Nobody works on it now: ${atWork.because}. To go on: ${commandLine(['crawl', '--id', crawlId], options)}`,
      );
  });
}

async function inStore(
  crawlId: string,
  options: CommonOptions,
  work: (db: Database) => Promise<void>,
): Promise<ExitCode> {
  const store = await openStore(configFor(options));
  if (store === null) throw noSuchCrawl(crawlId, options);
  try {
    if ((await findCrawl(store.db, crawlId)) === null) throw noSuchCrawl(crawlId, options);
    await work(store.db);
    return EXIT.ok;
  } finally {
    await store.close();
  }
}

async function change(db: Database, crawlId: string, paused: boolean): Promise<void> {
  if (await setPaused(db, crawlId, paused)) return;
  const crawl = await findCrawl(db, crawlId);
  throw new BadInput(
    `Crawl ${crawlId} is ${crawl?.status}: only a crawl that runs can be ${paused ? 'paused' : 'resumed'}.`,
  );
}

/** So that its workflow, where there is one, looks at once and not at its next sweep. */
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
