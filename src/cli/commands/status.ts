/** `amble status`: what is known of all crawls, or everything about one. */
import { formatDuration } from '../../core/format.ts';
import type { Database } from '../../storage/database.ts';
import {
  type DomainCounts,
  listCrawls,
  type OpenPage,
  openPages,
  type Progress,
  readDomains,
  readOpenPages,
  readProgress,
} from '../../storage/reports/progress.ts';
import { hasEnded } from '../connect/has-ended.ts';
import { openStore } from '../connect/store.ts';
import { type AtWork, whoIsAtWork } from '../connect/worker-status.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { commandLine } from '../render/command-line.ts';
import { soon } from '../render/domain.ts';
import { noSuchCrawl } from '../render/no-such-crawl.ts';
import { renderSummary } from '../render/summary.ts';
import { renderTable } from '../render/table.ts';
import { print } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';

export interface StatusOptions extends CommonOptions {
  json?: boolean;
}

const MOST_CRAWLS = 50;
const MOST_DOMAINS = 20;
/** For programs. */
const MOST_DOMAINS_IN_JSON = 10_000;
const MOST_OPEN_PAGES = 10;

export async function statusCommand(crawlId: string | undefined, options: StatusOptions): Promise<ExitCode> {
  const config = configFor(options);
  const store = await openStore(config);
  const ask: AskWho = (crawlIds) => whoIsAtWork(config, crawlIds);
  try {
    if (crawlId !== undefined) print(await crawlInDetail(store?.db ?? null, crawlId, options, ask));
    else print(await crawlList(store?.db ?? null, config.home, options, ask));
    return EXIT.ok;
  } finally {
    await store?.close();
  }
}

type AskWho = (crawlIds: readonly string[]) => Promise<ReadonlyMap<string, AtWork>>;

const ENDED: AtWork = { working: false, because: 'it has ended' };

/** Only of those that have not ended. */
async function atWorkOn(crawls: readonly Progress[], ask: AskWho): Promise<(crawl: Progress) => AtWork> {
  const found = await ask(crawls.filter((progress) => !hasEnded(progress)).map(({ crawl }) => crawl));
  return ({ crawl }) => found.get(crawl) ?? ENDED;
}

async function crawlList(
  db: Database | null,
  home: string,
  options: StatusOptions,
  ask: AskWho,
): Promise<string> {
  const crawls = db ? await listCrawls(db, MOST_CRAWLS) : [];
  const atWork = await atWorkOn(crawls, ask);
  if (options.json) {
    return JSON.stringify(crawls.map((progress) => ({ ...progress, atWork: atWork(progress).working })));
  }
  if (crawls.length === 0) {
    return `No crawls yet in ${home}; "${commandLine(['crawl', 'https://example.org/'], options)}" starts one.`;
  }
  const headers = ['Crawl', 'Status', 'Found', 'Fetched', 'Failed', 'Open', 'Time'];
  const rows = crawls.map((progress) => [
    progress.crawl,
    hasEnded(progress) || atWork(progress).working ? progress.status : `${progress.status}, nobody at work`,
    progress.found,
    progress.pages.Fetched,
    progress.pages.Failed,
    openPages(progress),
    formatDuration(progress.seconds * 1_000),
  ]);
  return renderTable(headers, rows).join('\n');
}

async function crawlInDetail(
  db: Database | null,
  crawlId: string,
  options: StatusOptions,
  ask: AskWho,
): Promise<string> {
  const progress = db && (await readProgress(db, crawlId));
  if (!db || !progress) throw noSuchCrawl(crawlId, options);
  const ended = hasEnded(progress);
  const atWork = (await atWorkOn([progress], ask))(progress);
  if (options.json) {
    const domains = await readDomains(db, crawlId, MOST_DOMAINS_IN_JSON);
    return JSON.stringify({ ...progress, atWork: atWork.working, domains });
  }
  const [domains, open] = await Promise.all([
    readDomains(db, crawlId, MOST_DOMAINS),
    readOpenPages(db, crawlId, MOST_OPEN_PAGES),
  ]);
  const paused =
    progress.status === 'Paused' ? [`To let it go on: ${commandLine(['resume', crawlId], options)}`] : [];
  const idle =
    ended || atWork.working
      ? []
      : [
          `Nobody works on it now: ${atWork.because}. To go on: ${commandLine(['crawl', '--id', crawlId], options)}`,
        ];
  const sections = [
    renderSummary(progress, atWork.working),
    idle,
    paused,
    domainTable(domains),
    openTable(open, new Date()),
  ];
  const shown = sections.filter((lines) => lines.length > 0);
  return shown.map((lines) => lines.join('\n')).join('\n\n');
}

function domainTable(domains: readonly DomainCounts[]): string[] {
  const rows = domains.map((row) => [
    row.domain,
    row.found,
    row.fetched,
    row.failed,
    row.open,
    row.paused ? 'paused' : '',
  ]);
  return indented(renderTable(['Domain', 'Found', 'Fetched', 'Failed', 'Open', ''], rows));
}

/** Why has it not been fetched yet, what was tried, when is it next. */
function openTable(pages: readonly OpenPage[], now: Date): string[] {
  if (pages.length === 0) return [];
  const rows = pages.map((page) => [
    page.url,
    page.status,
    page.attempts,
    nextInWords(page, now),
    page.reason ?? '',
  ]);
  return indented(renderTable(['Open page', 'Status', 'Attempts', 'Next', 'Why'], rows));
}

function nextInWords({ status, nextAt }: OpenPage, now: Date): string {
  if (!nextAt) return status === 'Queued' ? 'when its domain has a slot' : '';
  return soon(nextAt.getTime(), now);
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
