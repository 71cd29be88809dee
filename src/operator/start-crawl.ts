/** Starts crawls, finds them again, and resumes those whose workflow was lost. */
import type { Client, WorkflowHandle } from '@temporalio/client';
import { crawlLabels } from '../../workflows/labels.ts';
import { sweepSignal } from '../../workflows/messages.ts';
import { type AmbleConfig, type CrawlRequest, createCrawlInput } from '../config/index.ts';
import { truncateSummary } from '../core/format.ts';
import type { Database } from '../storage/database.ts';
import { hasEnded, type Progress, readProgress } from '../storage/reports/progress.ts';
import { UnknownCrawl } from './errors.ts';
import { workflowStatus } from './query-workflow.ts';

/** What orders are carried out with. */
export interface Operation {
  client: Client;
  db: Database;
  config: AmbleConfig;
}

export interface CrawlTarget extends Operation {
  crawlId: string;
  /** What to start a new crawl with; null: the crawl must exist. */
  request: CrawlRequest | null;
}

export type FoundCrawl =
  | { kind: 'ended'; progress: Progress }
  /** `resumed`: it existed before. */
  | { kind: 'open'; handle: WorkflowHandle; resumed: boolean };

/**
 * Finds the crawl with this id or starts it. A crawl that has not ended but has no workflow is resumed from its rows;
 * opening it a second time changes nothing.
 */
export async function findOrStartCrawl({
  client,
  db,
  config,
  crawlId,
  request,
}: CrawlTarget): Promise<FoundCrawl> {
  const row = await db.crawl.findUnique({ where: { id: crawlId }, select: { seeds: true } });
  const progress = row ? await readProgress(db, crawlId) : null;
  if (progress && hasEnded(progress)) return { kind: 'ended', progress };

  // The settings of an existing crawl are in its row and cannot be changed.
  const urls = row?.seeds ?? request?.seeds.map(({ url }) => url) ?? [];
  const input = row ? { seeds: row.seeds } : request && createCrawlInput(request.seeds, config);
  if (!input) {
    const handle = client.workflow.getHandle(crawlId);
    if ((await workflowStatus(client, crawlId)) === 'RUNNING') return { kind: 'open', handle, resumed: true };
    throw new UnknownCrawl(crawlId);
  }
  const handle = await client.workflow.start('Crawl', {
    ...crawlStart(config, crawlId, urls),
    args: [input],
  });
  return { kind: 'open', handle, resumed: row !== null };
}

/**
 * Makes sure that a crawl that is open in its row has a workflow, and that this looks at its rows now. A workflow that is about to
 * end gets the signal too, and then looks once more instead.
 */
export async function wakeCrawl({ client, db, config }: Operation, crawlId: string): Promise<void> {
  const { seeds } = await db.crawl.findUniqueOrThrow({ where: { id: crawlId }, select: { seeds: true } });
  await client.workflow.signalWithStart('Crawl', {
    ...crawlStart(config, crawlId, seeds),
    args: [{ seeds }],
    signal: sweepSignal,
  });
}

/** The row decides whether a crawl has ended; the server forgets closed workflows. */
function crawlStart({ taskQueue, dashboardUrl }: AmbleConfig, crawlId: string, urls: readonly string[]) {
  return {
    workflowId: crawlId,
    taskQueue,
    workflowIdConflictPolicy: 'USE_EXISTING',
    workflowIdReusePolicy: 'ALLOW_DUPLICATE',
    staticSummary: truncateSummary(`crawl from ${urls.slice(0, 3).join(', ')}`),
    // A worker adds the search attributes, if the namespace has them.
    ...crawlLabels({ searchAttributes: false, dashboardUrl }, crawlId),
  } as const;
}

/**
 * Resumes every unfinished crawl that the server has no workflow for, because the server's data was lost, and returns their
 * ids. A crawl whose workflow was terminated by hand stays as it is while the server remembers it (a day, with an
 * embedded server). To end a crawl for good, cancel it: its row remembers that.
 */
export async function resumeForgottenCrawls({ client, db, config }: Operation): Promise<string[]> {
  const unfinished = await db.crawl.findMany({ where: { finishedAt: null }, select: { id: true } });
  const forgotten: string[] = [];
  for (const { id } of unfinished) {
    if ((await workflowStatus(client, id)) === null) forgotten.push(id);
  }
  for (const crawlId of forgotten) await findOrStartCrawl({ client, db, config, crawlId, request: null });
  return forgotten;
}
