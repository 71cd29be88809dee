/** `amble status`: all crawls in a table, or one in detail. */

import type { AmbleConfig } from '../../config/index.ts';
import type { WorkStatus } from '../../operator/work-status.ts';
import type { Database } from '../../storage/database.ts';
import { readRetryProgress } from '../../storage/frontier/retry.ts';
import { readLastOrder, readPauseOrder } from '../../storage/orders.ts';
import {
  hasEnded,
  listCrawls,
  type Progress,
  readDomains,
  readOpenPages,
  readProgress,
} from '../../storage/reports/progress.ts';
import { type CommonOptions, configFor, formatCommand, unknownCrawl } from '../common-options.ts';
import { storeName, withDatabase } from '../connect/read-session.ts';
import { readWorkStatus } from '../connect/worker-status.ts';
import { type CrawlDetails, renderCrawl, renderCrawls } from '../render/crawl.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';
import { warnIfStopped } from './stop.ts';

export interface StatusOptions extends CommonOptions {
  json?: boolean;
}

const MAX_CRAWLS = 50;
const MAX_DOMAINS = 20;
/** For programs. */
const MAX_DOMAINS_IN_JSON = 10_000;
const MAX_OPEN_PAGES = 10;

const ENDED: WorkStatus = { active: false, reason: 'it has ended' };

export async function statusCommand(crawlId: string | undefined, options: StatusOptions): Promise<ExitCode> {
  const config = configFor(options);
  return withDatabase(config, async (db) => {
    if (db) await warnIfStopped(db, options);
    const lines =
      crawlId === undefined
        ? await showCrawls(db, config, options)
        : await showCrawl(db, crawlId, config, options);
    for (const line of lines) writeOut(line);
    return EXIT.ok;
  });
}

async function showCrawls(
  db: Database | null,
  config: AmbleConfig,
  options: StatusOptions,
): Promise<string[]> {
  const crawls = db ? await listCrawls(db, MAX_CRAWLS) : [];
  const workOf = await workStatusOf(crawls, config);
  if (options.json)
    return [JSON.stringify(crawls.map((progress) => ({ ...progress, active: workOf(progress).active })))];
  if (crawls.length === 0)
    return [
      `No crawls in ${storeName(config)} yet; start one with "${formatCommand(['crawl', 'https://example.org/'], options)}".`,
    ];
  return renderCrawls(crawls.map((progress) => ({ progress, work: workOf(progress) })));
}

async function showCrawl(
  db: Database | null,
  crawlId: string,
  config: AmbleConfig,
  options: StatusOptions,
): Promise<string[]> {
  const progress = db && (await readProgress(db, crawlId));
  if (!db || !progress) throw unknownCrawl(crawlId, options);
  const work = (await workStatusOf([progress], config))(progress);
  const pausedBy = progress.status === 'Paused' ? await readPauseOrder(db, { crawlId }) : null;
  const retry = await readRetry(db, crawlId);
  if (options.json) {
    const domains = await readDomains(db, crawlId, MAX_DOMAINS_IN_JSON);
    return [JSON.stringify({ ...progress, pausedBy, retry, active: work.active, domains })];
  }
  const [domains, open] = await Promise.all([
    readDomains(db, crawlId, MAX_DOMAINS),
    readOpenPages(db, crawlId, MAX_OPEN_PAGES),
  ]);
  return renderCrawl({ progress, work, domains, open, pausedBy, retry }, options, new Date());
}

async function readRetry(db: Database, crawlId: string): Promise<NonNullable<CrawlDetails['retry']> | null> {
  const order = await readLastOrder(db, 'retry', { crawlId });
  return order && { order, progress: await readRetryProgress(db, order.id) };
}

/** Asks only about crawls that have not ended. */
async function workStatusOf(
  crawls: readonly Progress[],
  config: AmbleConfig,
): Promise<(crawl: Progress) => WorkStatus> {
  const unfinished = crawls.filter((progress) => !hasEnded(progress));
  const found = await readWorkStatus(
    config,
    unfinished.map(({ crawl }) => crawl),
  );
  return ({ crawl }) => found.get(crawl) ?? ENDED;
}
