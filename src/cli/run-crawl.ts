/** Starts or joins the crawl that was wished for, works on it in this process or in the background, and shows how it goes. */
import type { AmbleConfig } from '../config/index.ts';
import type { Progress } from '../storage/reports/progress.ts';
import type { CrawlOptions, Wish } from './commands/crawl.ts';
import { ensureBackground } from './connect/background.ts';
import { type CrawlAtHand, endOf, reachCrawl, untilOpened } from './connect/crawls.ts';
import { hasEnded } from './connect/has-ended.ts';
import { openSession, type Session, withSession } from './connect/session.ts';
import { EXIT, type ExitCode } from './exit.ts';
import { commandLine } from './render/command-line.ts';
import { renderSummary } from './render/summary.ts';
import { print, say } from './render/terminal.ts';
import { watchCrawl } from './watch.ts';

export async function crawlInBackground(
  config: AmbleConfig,
  { crawlId, request, options }: Wish,
): Promise<ExitCode> {
  const pid = await ensureBackground(config, options);
  const session = await openSession(config, { worker: null, say });
  const seen = new AbortController();
  try {
    const crawl = await reachCrawl({ ...session, config, crawlId, request });
    if (crawl.kind === 'ended') return reportEnded(crawl.progress, options);
    const ended = endOf(crawl.handle, session.worker, { say, enough: seen.signal });
    const progress = await untilOpened(session.db, crawlId, ended);
    say(`Crawl ${crawlId} ${crawl.known ? 'goes on' : 'has begun'} in the background.`);
    sayHowToGoOn(crawlId, options);
    say(`  stop the worker: kill ${pid}`);
    print(options.json ? JSON.stringify(progress) : crawlId);
    return EXIT.ok;
  } finally {
    seen.abort();
    await session.close();
  }
}

export async function crawlHere(config: AmbleConfig, wish: Wish): Promise<ExitCode> {
  return withSession(config, { worker: 'file', say }, async (session, { first }) => {
    const crawl = await reachCrawl({ ...session, config, ...wish });
    if (crawl.kind === 'ended') return reportEnded(crawl.progress, wish.options);
    const { uiUrl } = session.engines.temporal;
    if (uiUrl !== null) say(`Every page is a workflow to look at: ${uiUrl}`);
    return follow(session, crawl, wish, first);
  });
}

async function follow(
  { db, worker }: Session,
  { handle, known }: Extract<CrawlAtHand, { kind: 'open' }>,
  { crawlId, request, options }: Wish,
  leave: AbortSignal,
): Promise<ExitCode> {
  if (known) {
    say(`Crawl ${crawlId} has begun before: taking it up where it stands.`);
    if (request) say('The URLs and settings it began with hold; those given now are not used.');
  }
  const progress = await watchCrawl({ db, crawlId, handle, worker, leave });
  if (!leave.aborted || (progress && hasEnded(progress))) return report(progress, options);

  say(`Leaving crawl ${crawlId} as it stands; nothing is lost.`);
  sayHowToGoOn(crawlId, options);
  if (progress) report(progress, options);
  say('Waiting for the fetches under way; Ctrl-C again stops at once.');
  return EXIT.interrupted;
}

function sayHowToGoOn(crawlId: string, options: CrawlOptions): void {
  say(`  go on and watch: ${commandLine(['crawl', '--id', crawlId], options)}`);
  say(`  see how it is:   ${commandLine(['status', crawlId], options)}`);
  say(`  cancel it:       ${commandLine(['cancel', crawlId], options)}`);
}

function reportEnded(progress: Progress, options: CrawlOptions): ExitCode {
  say(`Crawl ${progress.crawl} has already ended; to crawl anew, use another --id.`);
  return report(progress, options);
}

function report(progress: Progress | null, { json }: CrawlOptions): ExitCode {
  if (!progress) return EXIT.failed;
  if (json) print(JSON.stringify(progress));
  else for (const line of renderSummary(progress)) print(line);
  return progress.status === 'Completed' ? EXIT.ok : EXIT.failed;
}
