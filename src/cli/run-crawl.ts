/** Starts or joins a crawl, works on it in this process or in the background, and shows its progress. */
import type { AmbleConfig, CrawlRequest } from '../config/index.ts';
import type { FoundCrawl } from '../operator/start-crawl.ts';
import { hasEnded, type Progress } from '../storage/reports/progress.ts';
import { warnIfStopped } from './commands/stop.ts';
import { type CommonOptions, formatCommand } from './common-options.ts';
import { ensureUp } from './connect/background.ts';
import { joinOrStartCrawl, waitForEnd, waitUntilOpened } from './connect/crawls.ts';
import { serveDashboard } from './connect/dashboard.ts';
import { openSession, type Session, withSession } from './connect/session.ts';
import { renderSummary } from './render/crawl.ts';
import { EXIT, type ExitCode, writeErr, writeOut } from './terminal.ts';
import { watchCrawl } from './watch-crawl.ts';

export interface CrawlOptions extends CommonOptions {
  id?: string;
  preset?: string;
  keyword?: string;
  maxPages?: string;
  maxPagesPerDomain?: string;
  maxDepth?: string;
  sitemaps?: boolean;
  scope?: string;
  include?: string[];
  exclude?: string[];
  delay?: string;
  keepTypes?: string;
  resolve?: string[];
  allowNetwork?: string[];
  detach?: boolean;
  json?: boolean;
}

export interface CrawlInvocation {
  crawlId: string;
  /** null: join the crawl that has this id. */
  request: CrawlRequest | null;
  options: CrawlOptions;
}

export async function runCrawlInBackground(
  config: AmbleConfig,
  { crawlId, request, options }: CrawlInvocation,
): Promise<ExitCode> {
  const pid = await ensureUp(config, options);
  const session = await openSession(config, { worker: null });
  const done = new AbortController();
  try {
    const crawl = await joinOrStartCrawl({ ...session, config, crawlId, request }, options);
    if (crawl.kind === 'ended') return reportEnded(crawl.progress, options);
    const ended = waitForEnd(crawl.handle, session.worker, { log: writeErr, signal: done.signal });
    const progress = await waitUntilOpened(session.db, crawlId, ended);
    writeErr(`Crawl ${crawlId} ${crawl.resumed ? 'continues' : 'has started'} in the background.`);
    await warnIfStopped(session.db, options);
    writeNextCommands(crawlId, options);
    writeErr(`  stop the worker: kill ${pid}`);
    writeOut(options.json ? JSON.stringify(progress) : crawlId);
    return EXIT.ok;
  } finally {
    done.abort();
    await session.close();
  }
}

export async function runCrawl(config: AmbleConfig, invocation: CrawlInvocation): Promise<ExitCode> {
  return withSession(config, { worker: 'file' }, async (session, { first, second }) => {
    const crawl = await joinOrStartCrawl({ ...session, config, ...invocation }, invocation.options);
    if (crawl.kind === 'ended') return reportEnded(crawl.progress, invocation.options);
    const { uiUrl } = session.engines.temporal;
    await warnIfStopped(session.db, invocation.options);
    if (uiUrl !== null) writeErr(`Every page is a workflow in the Temporal Web UI: ${uiUrl}`);
    const server = await serveDashboard(config, session);
    try {
      return await followCrawl(session, crawl, invocation, first);
    } finally {
      await server?.stop(second);
    }
  });
}

async function followCrawl(
  { db, worker }: Session,
  { handle, resumed }: Extract<FoundCrawl, { kind: 'open' }>,
  { crawlId, request, options }: CrawlInvocation,
  leave: AbortSignal,
): Promise<ExitCode> {
  if (resumed) {
    writeErr(`Resuming crawl ${crawlId} where it stopped.`);
    if (request) writeErr('It keeps the URLs and settings it was started with; those given now are ignored.');
  }
  const progress = await watchCrawl({ db, crawlId, handle, worker, leave });
  if (!leave.aborted || (progress && hasEnded(progress))) return report(progress, options);

  writeErr(`Crawl ${crawlId} is not finished; nothing is lost.`);
  writeNextCommands(crawlId, options);
  if (progress) report(progress, options);
  writeErr('Waiting for fetches in progress. Press Ctrl-C again to stop immediately.');
  return EXIT.interrupted;
}

function writeNextCommands(crawlId: string, options: CrawlOptions): void {
  writeErr(`  watch or resume: ${formatCommand(['crawl', '--id', crawlId], options)}`);
  writeErr(`  see its status:  ${formatCommand(['status', crawlId], options)}`);
  writeErr(`  cancel it:       ${formatCommand(['cancel', crawlId], options)}`);
}

function reportEnded(progress: Progress, options: CrawlOptions): ExitCode {
  writeErr(`Crawl ${progress.crawl} has already ended; choose another --id to crawl again.`);
  return report(progress, options);
}

function report(progress: Progress | null, { json }: CrawlOptions): ExitCode {
  if (!progress) return EXIT.failed;
  if (json) writeOut(JSON.stringify(progress));
  else for (const line of renderSummary(progress)) writeOut(line);
  return progress.status === 'Completed' ? EXIT.ok : EXIT.failed;
}
