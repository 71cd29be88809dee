/** `amble page`: the current state of one page, the reason for it, and every attempt. */
import { BadInput } from '../../config/index.ts';
import { readPageContext } from '../../operator/page-context.ts';
import { findCrawl } from '../../storage/crawls.ts';
import type { Database } from '../../storage/database.ts';
import { readPage } from '../../storage/reports/page-report.ts';
import { normaliseUrl } from '../../urls/index.ts';
import { type CommonOptions, configFor, formatCommand, unknownCrawl } from '../common-options.ts';
import { withDatabaseAndTemporal } from '../connect/read-session.ts';
import { renderPageReport } from '../render/page.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';
import { warnIfStopped } from './stop.ts';

export interface PageOptions extends CommonOptions {
  crawl?: string;
  json?: boolean;
}

export async function pageCommand(url: string, options: PageOptions): Promise<ExitCode> {
  const normalised = normaliseUrl(url);
  if (!normalised.ok) {
    const cure = URL.canParse(url) ? normalised.reason : 'give it in full, as in https://example.org/about';
    throw new BadInput(`Invalid URL ${JSON.stringify(url)}: ${cure}.`);
  }
  const config = configFor(options);
  return withDatabaseAndTemporal(config, async (db, client) => {
    const report = db && (await readPage(db, url, options.crawl));
    if (!report) throw await unknownPage(db, normalised.url, options);
    await warnIfStopped(db, options);
    const context = await readPageContext(db, client, config, report);
    if (options.json) {
      const { slot, domain, work } = context;
      writeOut(JSON.stringify({ ...report, slot, domain, active: work?.active ?? null }, jsonValue));
    } else for (const line of renderPageReport(report, context, new Date())) writeOut(line);
    return EXIT.ok;
  });
}

async function unknownPage(db: Database | null, url: string, options: PageOptions): Promise<BadInput> {
  const { crawl } = options;
  if (crawl === undefined)
    return new BadInput(
      `No crawl on record has found ${url}; start one with "${formatCommand(['crawl', url], options)}".`,
    );
  const exists = db !== null && (await findCrawl(db, crawl)) !== null;
  return exists ? new BadInput(`Crawl ${crawl} has not found ${url}.`) : unknownCrawl(crawl, options);
}

/** Ids exceed what a JSON number holds; hashes are of no use to a reader. */
function jsonValue(key: string, value: unknown): unknown {
  if (key === 'urlHash') return undefined;
  return typeof value === 'bigint' ? value.toString() : value;
}
