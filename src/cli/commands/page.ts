/** `amble page`: where one page is now and why, and every attempt at it. */
import type { Client } from '@temporalio/client';
import { pageWorkflowId, throttleId } from '../../../workflows/ids.ts';
import { positionQuery, robotsHopQuery } from '../../../workflows/messages.ts';
import { type AmbleConfig, BadInput } from '../../config/index.ts';
import type { Database } from '../../storage/database.ts';
import { type PageReport, readPage } from '../../storage/reports/page-report.ts';
import type { ThrottleView } from '../../throttle/view.ts';
import { normaliseUrl } from '../../urls/index.ts';
import { askWorkflow, readDomainReport, throttleView } from '../connect/domains.ts';
import { joinTemporal } from '../connect/join-temporal.ts';
import { openStore } from '../connect/store.ts';
import { whoIsAtWork } from '../connect/worker-status.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { renderPage, type Surroundings, type Whereabouts } from '../render/page.ts';
import { print } from '../render/terminal.ts';
import { type CommonOptions, configFor } from '../settings.ts';

export interface PageOptions extends CommonOptions {
  crawl?: string;
  json?: boolean;
}

export async function pageCommand(url: string, options: PageOptions): Promise<ExitCode> {
  const normalised = normaliseUrl(url);
  if (!normalised.ok) throw new BadInput(`${JSON.stringify(url)} is no page: ${normalised.reason}.`);
  const config = configFor(options);
  const store = await openStore(config);
  const temporal = store && (await joinTemporal(config));
  try {
    const report = store && (await readPage(store.db, url, options.crawl));
    if (!report) {
      const nobody = options.crawl === undefined ? 'No crawl here has' : `The crawl ${options.crawl} has not`;
      throw new BadInput(`${nobody} met ${normalised.url}.`);
    }
    const around = await surroundings(store.db, temporal?.client ?? null, config, report);
    if (options.json)
      print(JSON.stringify({ ...report, ...around, atWork: around.atWork?.working ?? null }, inJson));
    else for (const line of renderPage(report, around, new Date())) print(line);
    return EXIT.ok;
  } finally {
    await temporal?.close();
    await store?.close();
  }
}

/** As far as it matters to the page as it is now. */
async function surroundings(
  db: Database,
  client: Client | null,
  config: AmbleConfig,
  report: PageReport,
): Promise<Surroundings> {
  const { page, crawl } = report;
  const isOpen = page.status === 'Pending' || page.status === 'Queued' || page.status === 'Waiting';
  if (!isOpen) return { where: null, domain: null, atWork: null };
  const atWork = (await whoIsAtWork(config, [crawl.id])).get(crawl.id) ?? null;
  if (page.status === 'Waiting') return { where: null, domain: null, atWork };
  const domain = await readDomainReport(db, client, page.domain);
  return { where: page.status === 'Queued' ? await find(client, page, domain.live) : null, domain, atWork };
}

async function find(
  client: Client | null,
  page: PageReport['page'],
  live: ThrottleView | null,
): Promise<Whereabouts | null> {
  const urlHash = Buffer.from(page.urlHash).toString('hex');
  const workflowId = pageWorkflowId(page.crawlId, { url: page.url, urlHash });
  const own = live && (await placeAt(client, live, workflowId));
  if (own !== null && own.place.kind !== 'absent') return own;
  const robots = await askWorkflow(client, workflowId, robotsHopQuery);
  if (robots === null || robots.domain === page.domain) return own;
  const other = await throttleView(client, robots.domain);
  const elsewhere = other && (await placeAt(client, other, workflowId));
  return elsewhere && { ...elsewhere, robots };
}

/** What the throttle of this domain says of the page, its own domain or not. */
async function placeAt(
  client: Client | null,
  domain: ThrottleView,
  workflowId: string,
): Promise<Whereabouts | null> {
  const place = await askWorkflow(client, throttleId(domain.domain), positionQuery, workflowId);
  return place && { place, domain };
}

/** Ids are bigger than a number holds, and a hash is for machines. */
function inJson(key: string, value: unknown): unknown {
  if (key === 'urlHash') return undefined;
  return typeof value === 'bigint' ? value.toString() : value;
}
