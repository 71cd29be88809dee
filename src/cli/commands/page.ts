/** `amble page`: the current state of one page, the reason for it, and every attempt. */
import type { Client } from '@temporalio/client';
import { pageWorkflowId, throttleId } from '../../../workflows/ids.ts';
import { robotsHopQuery, slotQuery } from '../../../workflows/messages.ts';
import { type AmbleConfig, BadInput } from '../../config/index.ts';
import { findCrawl } from '../../storage/crawls.ts';
import type { Database } from '../../storage/database.ts';
import { type PageReport, readPage } from '../../storage/reports/page-report.ts';
import type { ThrottleView } from '../../throttle/view.ts';
import { normaliseUrl } from '../../urls/index.ts';
import { type CommonOptions, configFor, formatCommand, unknownCrawl } from '../common-options.ts';
import { queryThrottle, readDomainReport } from '../connect/domains.ts';
import { withDatabaseAndTemporal } from '../connect/read-session.ts';
import { queryWorkflow } from '../connect/temporal-client.ts';
import { readWorkStatus } from '../connect/worker-status.ts';
import { renderPageReport } from '../render/page.ts';
import type { PageContext, SlotStatus } from '../render/page-status.ts';
import { EXIT, type ExitCode, writeOut } from '../terminal.ts';

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
    const context = await readContext(db, client, config, report);
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

/** Only what matters to a page in this state. */
async function readContext(
  db: Database,
  client: Client | null,
  config: AmbleConfig,
  { page, crawl }: PageReport,
): Promise<PageContext> {
  const isOpen = page.status === 'Pending' || page.status === 'Queued' || page.status === 'Waiting';
  if (!isOpen) return { slot: null, domain: null, work: null };
  const work = (await readWorkStatus(config, [crawl.id])).get(crawl.id) ?? null;
  if (page.status === 'Waiting') return { slot: null, domain: null, work };
  const domain = await readDomainReport(db, client, page.domain);
  const slot = page.status === 'Queued' ? await readSlot(client, page, domain.live) : null;
  return { slot, domain, work };
}

/** At the throttle of the domain that its robots.txt redirects to, or at its own. */
async function readSlot(
  client: Client | null,
  page: PageReport['page'],
  live: ThrottleView | null,
): Promise<SlotStatus | null> {
  const urlHash = Buffer.from(page.urlHash).toString('hex');
  const workflowId = pageWorkflowId(page.crawlId, { url: page.url, urlHash });
  const robots = await queryWorkflow(client, workflowId, robotsHopQuery);
  if (robots !== null && robots.domain !== page.domain) {
    const other = await queryThrottle(client, robots.domain);
    const elsewhere = other && (await slotAt(client, other, workflowId));
    if (elsewhere !== null) return { ...elsewhere, robots };
  }
  return live && (await slotAt(client, live, workflowId));
}

async function slotAt(
  client: Client | null,
  domain: ThrottleView,
  workflowId: string,
): Promise<SlotStatus | null> {
  const slot = await queryWorkflow(client, throttleId(domain.domain), slotQuery, workflowId);
  return slot && { slot, domain };
}

/** Ids exceed what a JSON number holds; hashes are of no use to a reader. */
function jsonValue(key: string, value: unknown): unknown {
  if (key === 'urlHash') return undefined;
  return typeof value === 'bigint' ? value.toString() : value;
}
