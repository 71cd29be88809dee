/** Domains as operators see them: live from their throttle, or as stored if the throttle does not answer. */
import type { Client } from '@temporalio/client';
import { throttleId } from '../../workflows/ids.ts';
import { stateQuery } from '../../workflows/messages.ts';
import { BadInput } from '../config/index.ts';
import type { Database } from '../storage/database.ts';
import { type KnownDomain, readDomain } from '../storage/domains.ts';
import { type RecordedOrder, readPauseOrder } from '../storage/orders.ts';
import type { ThrottleView } from '../throttle/view.ts';
import { type PolitenessUnit, politenessKey } from '../urls/index.ts';
import { queryWorkflow } from './query-workflow.ts';

export interface DomainReport {
  domain: string;
  /** null: its throttle is not running, or no worker answers for it. */
  live: ThrottleView | null;
  /** Its throttle may be running, but has not answered yet. */
  unanswered?: boolean;
  /** null: no crawl has requested anything from this domain yet. */
  known: KnownDomain | null;
  /** Who paused it, and why. Of a paused one. */
  pausedBy?: RecordedOrder | null;
}

/** Each is a workflow task: more would keep a worker from its pages. */
const MAX_PARALLEL_QUERIES = 20;

export async function readDomainReport(
  db: Database,
  client: Client | null,
  domain: string,
): Promise<DomainReport> {
  return readDomainRow(db, domain, await queryThrottle(client, domain));
}

/** `live`: what its throttle says. null: it is not running, or no worker answers for it. */
export async function readDomainRow(
  db: Database,
  domain: string,
  live: ThrottleView | null,
): Promise<DomainReport> {
  const known = await readDomain(db, domain);
  const isPaused = live === null ? known?.stored.paused === true : live.phase === 'paused';
  return { domain, known, live, pausedBy: isPaused ? await readPauseOrder(db, { domain }) : null };
}

/** From what users type, a URL or a host name in any case, to the domain whose requests share one gap. */
export function parseDomain(typed: string, unit: PolitenessUnit): string {
  const isUrl = /^https?:\/\//i.test(typed);
  const isHost = /^([^\s/:?#@\\]+|\[[\da-f:.]+\])$/i.test(typed);
  const url = isUrl ? typed : `http://${typed}/`;
  if ((isUrl || isHost) && URL.canParse(url)) return politenessKey(url, unit);
  throw new BadInput(
    `Invalid domain ${JSON.stringify(typed)}: give a host name such as example.org, without a port or a path.`,
  );
}

export function queryThrottle(client: Client | null, domain: string): Promise<ThrottleView | null> {
  return queryWorkflow(client, throttleId(domain), stateQuery);
}

/**
 * Of the throttles that are running. If the first one gets no answer, no worker is there to answer for the others. `onView`: called
 * with each as it comes.
 */
export async function queryThrottles(
  client: Client | null,
  domains: readonly string[],
  onView: (domain: string, view: ThrottleView) => void = () => {},
): Promise<Map<string, ThrottleView>> {
  const views = new Map<string, ThrottleView>();
  if (client === null || domains.length === 0) return views;
  const running = await runningThrottles(client);
  const [first, ...rest] = domains.filter((domain) => running.has(throttleId(domain)));
  const query = async (domain: string) => {
    const view = await queryThrottle(client, domain);
    if (view === null) return;
    views.set(domain, view);
    onView(domain, view);
  };
  if (first !== undefined) await query(first);
  if (views.size > 0)
    for (let at = 0; at < rest.length; at += MAX_PARALLEL_QUERIES)
      await Promise.all(rest.slice(at, at + MAX_PARALLEL_QUERIES).map(query));
  return views;
}

async function runningThrottles(client: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  const query = "WorkflowType = 'DomainThrottle' AND ExecutionStatus = 'Running'";
  for await (const { workflowId } of client.workflow.list({ query })) ids.add(workflowId);
  return ids;
}
