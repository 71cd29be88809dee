/** What matters to a page beside its own rows: its slot, its domain, and whether its crawl is being worked on. */
import type { Client } from '@temporalio/client';
import { pageWorkflowId, throttleId } from '../../workflows/ids.ts';
import { robotsHopQuery, slotQuery } from '../../workflows/messages.ts';
import type { AmbleConfig } from '../config/index.ts';
import { isOpen } from '../core/outcome.ts';
import type { Database } from '../storage/database.ts';
import type { PageReport } from '../storage/reports/page-report.ts';
import type { PageContext, SlotStatus } from './describe-page.ts';
import { type DomainReport, readDomainReport } from './domains.ts';
import { queryWorkflow } from './query-workflow.ts';
import { workStatusOf } from './work-status.ts';

/** Only what matters to a page in this state. */
export async function readPageContext(
  db: Database,
  client: Client | null,
  config: AmbleConfig,
  { page, crawl }: PageReport,
): Promise<PageContext> {
  if (!isOpen(page.status)) return { slot: null, domain: null, work: null };
  const work = (await workStatusOf(client, config, [crawl.id])).get(crawl.id) ?? null;
  return { ...(await readPagePlace(db, client, { page })), work };
}

/** What waits for answers of running workflows. */
export type PagePlace = Pick<PageContext, 'slot' | 'domain'>;

export async function readPagePlace(
  db: Database,
  client: Client | null,
  { page }: Pick<PageReport, 'page'>,
): Promise<PagePlace> {
  if (page.status !== 'Pending' && page.status !== 'Queued') return { slot: null, domain: null };
  const domain = await readDomainReport(db, client, page.domain);
  return { domain, slot: page.status === 'Queued' ? await readSlot(db, client, page, domain) : null };
}

/** At the throttle of the domain that its robots.txt redirects to, or at its own. */
async function readSlot(
  db: Database,
  client: Client | null,
  page: PageReport['page'],
  own: DomainReport,
): Promise<SlotStatus | null> {
  const workflowId = workflowIdOf(page);
  const robots = await queryWorkflow(client, workflowId, robotsHopQuery);
  if (robots !== null && robots.domain !== page.domain) {
    const elsewhere = await slotAt(client, await readDomainReport(db, client, robots.domain), workflowId);
    if (elsewhere !== null) return { ...elsewhere, robots };
  }
  return slotAt(client, own, workflowId);
}

async function slotAt(
  client: Client | null,
  { domain, live, pausedBy = null }: DomainReport,
  workflowId: string,
): Promise<SlotStatus | null> {
  const slot = live && (await queryWorkflow(client, throttleId(domain), slotQuery, workflowId));
  return slot && { slot, domain: live, pausedBy };
}

export function workflowIdOf(page: Pick<PageReport['page'], 'crawlId' | 'url' | 'urlHash'>): string {
  const urlHash = Buffer.from(page.urlHash).toString('hex');
  return pageWorkflowId(page.crawlId, { url: page.url, urlHash });
}
