/** `amble pause` and `amble resume`: a crawl's row says whether it goes on, so no worker is needed to change that. */
import { WorkflowNotFoundError } from '@temporalio/client';
import { nudgeSignal } from '../../../workflows/messages.ts';
import { BadInput } from '../../config/index.ts';
import { findCrawl, setPaused } from '../../storage/crawls.ts';
import type { Database } from '../../storage/database.ts';
import { commandLine } from '../command-line.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { joinTemporal } from '../join-temporal.ts';
import { noSuchCrawl } from '../no-such-crawl.ts';
import { type CommonOptions, configFor } from '../settings.ts';
import { openStore } from '../store.ts';
import { print } from '../terminal.ts';

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
    const isAtWork = await nudge(crawlId, options);
    print(`Crawl ${crawlId} is resumed.`);
    if (!isAtWork)
      print(`Nobody is at work on it; to go on here: ${commandLine(['crawl', '--id', crawlId], options)}`);
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

/** So that its workflow looks at once, not at its next sweep. False: it is not there to be told. */
async function nudge(crawlId: string, options: CommonOptions): Promise<boolean> {
  const temporal = await joinTemporal(configFor(options));
  if (temporal === null) return false;
  try {
    await temporal.client.workflow.getHandle(crawlId).signal(nudgeSignal);
    return true;
  } catch (error) {
    if (error instanceof WorkflowNotFoundError) return false;
    throw error;
  } finally {
    await temporal.close();
  }
}
