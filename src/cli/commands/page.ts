/** `amble page`: where one page is now and why, and every attempt at it. */
import type { Client } from '@temporalio/client';
import { pageWorkflowId, throttleId } from '../../../workflows/ids.ts';
import { placeQuery, robotsHopQuery } from '../../../workflows/messages.ts';
import { BadInput } from '../../config/index.ts';
import { type PageReport, readPage } from '../../storage/page-report.ts';
import { normaliseUrl } from '../../urls/index.ts';
import { askWorkflow, throttleView } from '../domains.ts';
import { EXIT, type ExitCode } from '../exit.ts';
import { joinTemporal } from '../join-temporal.ts';
import { renderPage, type Whereabouts } from '../page-words.ts';
import { type CommonOptions, configFor } from '../settings.ts';
import { openStore } from '../store.ts';
import { print } from '../terminal.ts';

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
    const where = report.page.status === 'Queued' ? await find(temporal?.client ?? null, report) : null;
    if (options.json) print(JSON.stringify({ ...report, where }, inJson));
    else for (const line of renderPage(report, where, new Date())) print(line);
    return EXIT.ok;
  } finally {
    await temporal?.close();
    await store?.close();
  }
}

async function find(client: Client | null, { page }: PageReport): Promise<Whereabouts | null> {
  const urlHash = Buffer.from(page.urlHash).toString('hex');
  const workflowId = pageWorkflowId(page.crawlId, { url: page.url, urlHash });
  const own = await placeAt(client, page.domain, workflowId);
  if (own !== null && own.place.kind !== 'absent') return own;
  const robots = await askWorkflow(client, workflowId, robotsHopQuery);
  if (robots === null || robots.domain === page.domain) return own;
  const elsewhere = await placeAt(client, robots.domain, workflowId);
  return elsewhere && { ...elsewhere, robots };
}

/** What the throttle of this domain says of the page, its own domain or not. */
async function placeAt(client: Client | null, name: string, workflowId: string): Promise<Whereabouts | null> {
  const domain = await throttleView(client, name);
  const place = domain && (await askWorkflow(client, throttleId(name), placeQuery, workflowId));
  return domain && place && { place, domain };
}

/** Ids are bigger than a number holds, and a hash is for machines. */
function inJson(key: string, value: unknown): unknown {
  if (key === 'urlHash') return undefined;
  return typeof value === 'bigint' ? value.toString() : value;
}
