/** `amble status`: what is known of all crawls, or everything about one. */
import { BadInput } from '../../config/index.ts';
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
} from '../../storage/progress.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { inWords } from '../progress/words.ts';
import { type CommonOptions, configFor } from '../settings.ts';
import { openStore } from '../store.ts';
import { renderSummary } from '../summary.ts';
import { renderTable } from '../table.ts';
import { print } from '../terminal.ts';

export interface StatusOptions extends CommonOptions {
  json?: boolean;
}

const MOST_CRAWLS = 50;
const MOST_DOMAINS = 20;
const MOST_OPEN_PAGES = 10;

export async function statusCommand(crawlId: string | undefined, options: StatusOptions): Promise<ExitCode> {
  const config = configFor(options);
  const store = await openStore(config);
  try {
    if (crawlId !== undefined) print(await crawlInDetail(store?.db ?? null, crawlId, options));
    else print(crawlList(store ? await listCrawls(store.db, MOST_CRAWLS) : [], config.home, options));
    return EXIT.ok;
  } finally {
    await store?.close();
  }
}

function crawlList(crawls: readonly Progress[], home: string, { json }: StatusOptions): string {
  if (json) return JSON.stringify(crawls);
  if (crawls.length === 0) {
    return `No crawls yet in ${home}; "amble crawl https://example.org/" starts one.`;
  }
  const headers = ['Crawl', 'Status', 'Found', 'Fetched', 'Failed', 'Open', 'Time'];
  const rows = crawls.map((progress) => [
    progress.crawl,
    progress.status,
    progress.found,
    progress.pages.Fetched,
    progress.pages.Failed,
    openPages(progress),
    inWords(progress.seconds),
  ]);
  return renderTable(headers, rows).join('\n');
}

async function crawlInDetail(db: Database | null, crawlId: string, { json }: StatusOptions): Promise<string> {
  const progress = db && (await readProgress(db, crawlId));
  if (!db || !progress) throw new BadInput(`There is no crawl named ${crawlId}; "amble status" lists them.`);
  if (json) return JSON.stringify(progress);
  const [domains, open] = await Promise.all([
    readDomains(db, crawlId, MOST_DOMAINS),
    readOpenPages(db, crawlId, MOST_OPEN_PAGES),
  ]);
  const sections = [renderSummary(progress), domainTable(domains), openTable(open, new Date())];
  const shown = sections.filter((lines) => lines.length > 0);
  return shown.map((lines) => lines.join('\n')).join('\n\n');
}

function domainTable(domains: readonly DomainCounts[]): string[] {
  const rows = domains.map((row) => [row.domain, row.found, row.fetched, row.failed, row.open]);
  return indented(renderTable(['Domain', 'Found', 'Fetched', 'Failed', 'Open'], rows));
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
  const seconds = (nextAt.getTime() - now.getTime()) / 1_000;
  return seconds <= 0 ? 'now' : `in ${inWords(seconds)}`;
}

function indented(lines: readonly string[]): string[] {
  return lines.map((line) => `  ${line}`);
}
