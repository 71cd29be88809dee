/** `amble demo`: a complete crawl in half a minute, of a small web on this machine. */
import { existsSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { type AmbleConfig, parseCrawlInput } from '../../config/index.ts';
import { type DemoWeb, startDemoWeb } from '../../demo/index.ts';
import { stopEngine } from '../../embedded/engine.ts';
import { homeAt } from '../../embedded/home.ts';
import { postgresEngine } from '../../embedded/postgres.ts';
import { livingProcesses } from '../../embedded/process-table.ts';
import { temporalEngine } from '../../embedded/temporal.ts';
import { assertSafe } from '../../server/safe-listen.ts';
import { openPages } from '../../storage/reports/progress.ts';
import { type CommonOptions, configFor, formatCommand } from '../common-options.ts';
import { joinOrStartCrawl } from '../connect/crawls.ts';
import { serveDashboard } from '../connect/dashboard.ts';
import { withSession } from '../connect/session.ts';
import { aborted } from '../interrupts.ts';
import { renderSummary } from '../render/crawl.ts';
import { EXIT, type ExitCode, isAtTerminal, keyPress, writeErr, writeOut } from '../terminal.ts';
import { watchCrawl } from '../watch-crawl.ts';

export interface DemoOptions extends CommonOptions {
  json?: boolean;
  /** Keep everything running after the crawl. Unset: at a terminal only. */
  stay?: boolean;
}

const CRAWL_ID = 'demo';

/** Short delays and retries; everything else is as in a real crawl. */
const DEMO_PACE = {
  delay: '200ms',
  retry: {
    initialInterval: '1s',
    backoffCoefficient: 1,
    maximumAttempts: 3,
    maximumInterval: '1s',
    jitter: '0s',
  },
};

/** Notices soon that the crawl is over. */
const DEMO_TUNING = { crawl: { sweepIntervalMs: 1_000 } };

export async function demoCommand(options: DemoOptions): Promise<ExitCode> {
  const config = configFor(options);
  assertSafe(config);
  const home = join(config.home, 'demo');
  await stopOrphanedEngines(home);
  await rm(home, { recursive: true, force: true });
  const web = await startDemoWeb();
  try {
    return await crawlDemoWeb(web, demoConfig(home, web, options), options);
  } finally {
    await web.stop();
  }
}

/** A killed demo may have left engines running in the home that is about to be deleted. */
async function stopOrphanedEngines(path: string): Promise<void> {
  const home = homeAt(path);
  if (!existsSync(home.users)) return;
  const [user] = await livingProcesses(home.users);
  if (user)
    throw new Error(
      `Process ${user.pid} is using ${home.directory}; stop it first, or choose another directory with --home.`,
    );
  await stopEngine(temporalEngine(home));
  await stopEngine(postgresEngine(home));
}

/** With engines of its own, whatever is configured: a demo must not write into a real database. */
function demoConfig(home: string, { resolve }: DemoWeb, { config }: DemoOptions): AmbleConfig {
  return configFor(
    { home, ...(config !== undefined && { config }) },
    {
      ...DEMO_PACE,
      temporalAddress: 'none',
      temporalNamespace: 'default',
      temporalApiKeyFile: 'none',
      databaseUrl: 'none',
      contentStore: 'none',
      politenessKey: 'host',
      preset: 'smallweb',
      domains: 'none',
      maxPages: 'none',
      maxDepth: 'none',
      resolve,
      allowNetwork: ['127.0.0.0/8'],
    },
    DEMO_TUNING,
  );
}

async function crawlDemoWeb(web: DemoWeb, config: AmbleConfig, options: DemoOptions): Promise<ExitCode> {
  writeErr(
    `Serving a small web of ${web.seeds.length} hosts on this machine; requests to one host are 200 ms apart.`,
  );
  return withSession(config, { worker: 'file', isolated: true }, async (session, interrupts) => {
    const { uiUrl } = session.engines.temporal;
    if (uiUrl) writeErr(`While the demo runs, every page is a workflow in the Temporal Web UI: ${uiUrl}`);
    const server = await serveDashboard(config, session);
    const request = parseCrawlInput({ seeds: web.seeds }, config);
    const crawl = await joinOrStartCrawl({ ...session, config, crawlId: CRAWL_ID, request }, options);
    if (crawl.kind === 'ended')
      throw new Error(`Could not empty ${config.home}; delete it, then run the demo again.`);
    const { db, worker } = session;
    const { handle } = crawl;
    const progress = await watchCrawl({ db, crawlId: CRAWL_ID, handle, worker, leave: interrupts.first });
    if (!progress || interrupts.first.aborted) return EXIT.interrupted;

    const write = options.json ? writeErr : writeOut;
    for (const line of renderSummary(progress)) write(line);
    if (options.json) writeOut(JSON.stringify(progress));
    if (options.stay ?? isAtTerminal()) {
      writeErr(`The demo stays up at ${server?.url ?? uiUrl}. Press any key to stop it.`);
      await Promise.race([keyPress(), aborted(interrupts.first)]);
    }
    await server?.stop(interrupts.second);
    for (const line of ['', ...nextSteps(config, uiUrl)]) write(line);
    return progress.status === 'Completed' && openPages(progress) === 0 ? EXIT.ok : EXIT.failed;
  });
}

function nextSteps({ home }: AmbleConfig, uiUrl: string | null): string[] {
  return [
    `The data is in ${home}.`,
    `The Temporal Web UI${uiUrl === null ? '' : ` at ${uiUrl}`} stopped with the demo. To look at the results:`,
    `  ${formatCommand(['up'], { home })}`,
    `  ${formatCommand(['status', CRAWL_ID], { home })}`,
    `  ${formatCommand(['export', CRAWL_ID], { home })}`,
  ];
}
