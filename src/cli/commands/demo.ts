/** `amble demo`: the whole thing on one machine, in half a minute, on a web of its own. */
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AmbleConfig, parseCrawlInput } from '../../config/index.ts';
import { type DemoWeb, startDemoWeb } from '../../demo/index.ts';
import { openPages } from '../../storage/reports/progress.ts';
import { reachCrawl } from '../connect/crawls.ts';
import { endLeftovers } from '../connect/orphaned-engines.ts';
import { withSession } from '../connect/session.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { commandLine } from '../render/command-line.ts';
import { renderSummary } from '../render/summary.ts';
import { print, say } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';
import { watchCrawl } from '../watch.ts';

export interface DemoOptions extends CommonOptions {
  json?: boolean;
}

const CRAWL_ID = 'demo';

/** Everything a visitor would wait for is short; everything else is as it is for a real crawl. */
const DEMO_PACE = {
  delay: '200ms',
  retry: {
    initialInterval: '1s',
    backoffCoefficient: 1,
    maximumAttempts: 3,
    maximumInterval: '1s',
    jitter: '0s',
  },
  sweepInterval: '1s',
};

export async function demoCommand(options: DemoOptions): Promise<ExitCode> {
  const home = join(configFor(options).home, 'demo');
  await endLeftovers(home);
  await rm(home, { recursive: true, force: true });
  const web = await startDemoWeb();
  try {
    return await crawlDemoWeb(web, demoConfig(home, web, options), options);
  } finally {
    await web.stop();
  }
}

/** Its own engines, whatever is configured: a demo must not write into somebody's database. */
function demoConfig(home: string, { resolve }: DemoWeb, { config }: DemoOptions): AmbleConfig {
  return configFor(
    { home, ...(config !== undefined && { config }) },
    {
      ...DEMO_PACE,
      temporalAddress: 'none',
      temporalNamespace: 'default',
      databaseUrl: 'none',
      contentDir: 'none',
      politenessKey: 'host',
      preset: 'smallweb',
      domains: 'none',
      maxPages: 'none',
      maxDepth: 'none',
      resolve,
      allowNetwork: ['127.0.0.0/8'],
    },
  );
}

async function crawlDemoWeb(web: DemoWeb, config: AmbleConfig, options: DemoOptions): Promise<ExitCode> {
  say(
    `A small web of ${web.seeds.length} hosts is up on this machine; 200 ms between two requests to one host.`,
  );
  return withSession(config, { worker: 'file', isolated: true, say }, async (session, interrupts) => {
    const { uiUrl } = session.engines.temporal;
    if (uiUrl) say(`While it runs, every page is a workflow to look at: ${uiUrl}`);
    const request = parseCrawlInput({ seeds: web.seeds }, config);
    const crawl = await reachCrawl({ ...session, config, crawlId: CRAWL_ID, request });
    if (crawl.kind === 'ended')
      throw new Error(`The demo's home ${config.home} could not be emptied: remove it.`);
    const { db, worker } = session;
    const { handle } = crawl;
    const progress = await watchCrawl({ db, crawlId: CRAWL_ID, handle, worker, leave: interrupts.first });
    if (!progress || interrupts.first.aborted) return EXIT.interrupted;

    for (const line of [...renderSummary(progress), '', ...whereToLook(config, uiUrl)]) {
      if (options.json) say(line);
      else print(line);
    }
    if (options.json) print(JSON.stringify(progress));
    return progress.status === 'Completed' && openPages(progress) === 0 ? EXIT.ok : EXIT.failed;
  });
}

function whereToLook({ home }: AmbleConfig, uiUrl: string | null): string[] {
  return [
    `Its data is in ${home}.`,
    `The Temporal Web UI was at ${uiUrl ?? 'no address'} and has stopped with the demo. To look again:`,
    `  ${commandLine(['up'], { home })}`,
    `  ${commandLine(['status', CRAWL_ID], { home })}`,
    `  ${commandLine(['export', CRAWL_ID], { home })}`,
  ];
}
