/** Domains as the command line meets them: what their throttles say, and what was written down where they say nothing. */
import {
  type Client,
  isGrpcServiceError,
  QueryRejectedError,
  WorkflowNotFoundError,
} from '@temporalio/client';
import type { QueryDefinition } from '@temporalio/common';
import { throttleId } from '../../../workflows/ids.ts';
import { stateQuery } from '../../../workflows/messages.ts';
import { BadInput } from '../../config/index.ts';
import { causesOf } from '../../core/error-chain.ts';
import type { Database } from '../../storage/database.ts';
import { type KnownDomain, readDomain } from '../../storage/reports/domains.ts';
import type { ThrottleView } from '../../throttle/view.ts';
import { type PolitenessUnit, politenessKey } from '../../urls/index.ts';

export interface DomainReport {
  domain: string;
  /** null: its throttle does not run, or no worker is there to answer for it. */
  live: ThrottleView | null;
  /** null: no crawl has met this domain yet. */
  known: KnownDomain | null;
}

/** A worker answers within milliseconds; without one, a query waits for ever. */
const ANSWER_WITHIN_MS = 3_000;

export async function readDomainReport(
  db: Database,
  client: Client | null,
  domain: string,
): Promise<DomainReport> {
  const [known, live] = await Promise.all([readDomain(db, domain), throttleView(client, domain)]);
  return { domain, known, live };
}

/** More would wait for each other longer than for an answer. */
const ASKED_AT_ONCE = 100;

/** What people type, a URL or a name in any case, as the domain that shares one gap. */
export function domainOf(typed: string, unit: PolitenessUnit): string {
  const isUrl = /^https?:\/\//i.test(typed);
  const isHost = /^([^\s/:?#@\\]+|\[[\da-f:.]+\])$/i.test(typed);
  const url = isUrl ? typed : `http://${typed}/`;
  if ((isUrl || isHost) && URL.canParse(url)) return politenessKey(url, unit);
  throw new BadInput(
    `${JSON.stringify(typed)} is not a domain: give a host name such as example.org, without port or path.`,
  );
}

export function throttleView(client: Client | null, domain: string): Promise<ThrottleView | null> {
  return askWorkflow(client, throttleId(domain), stateQuery);
}

/** Of those that run. Where nobody answers for the first, nobody answers for the others: one silence is enough. */
export async function throttleViews(
  client: Client | null,
  domains: readonly string[],
): Promise<Map<string, ThrottleView>> {
  const views = new Map<string, ThrottleView>();
  if (client === null || domains.length === 0) return views;
  const running = await runningThrottles(client);
  const [first, ...rest] = domains.filter((domain) => running.has(throttleId(domain)));
  const look = async (domain: string) => {
    const view = await throttleView(client, domain);
    if (view !== null) views.set(domain, view);
  };
  if (first !== undefined) await look(first);
  if (views.size > 0)
    for (let at = 0; at < rest.length; at += ASKED_AT_ONCE)
      await Promise.all(rest.slice(at, at + ASKED_AT_ONCE).map(look));
  return views;
}

async function runningThrottles(client: Client): Promise<Set<string>> {
  const ids = new Set<string>();
  const query = "WorkflowType = 'DomainThrottle' AND ExecutionStatus = 'Running'";
  for await (const { workflowId } of client.workflow.list({ query })) ids.add(workflowId);
  return ids;
}

/** null: there is no Temporal server, the workflow does not run, or no worker answers for it. */
export async function askWorkflow<Answer, Args extends unknown[]>(
  client: Client | null,
  workflowId: string,
  query: QueryDefinition<Answer, Args>,
  ...args: Args
): Promise<Answer | null> {
  if (client === null) return null;
  try {
    return await client.withDeadline(Date.now() + ANSWER_WITHIN_MS, () =>
      client.workflow.getHandle(workflowId).query(query, ...args),
    );
  } catch (error) {
    if (isSilence(error)) return null;
    throw error;
  }
}

/** Whether a workflow could not be asked for want of somebody to answer. */
export function isSilence(error: unknown): boolean {
  return (
    error instanceof WorkflowNotFoundError ||
    error instanceof QueryRejectedError ||
    // Nobody has answered in time, or the server knows that nobody will; the SDK wraps what it said.
    causesOf(error).some(isGrpcServiceError)
  );
}
