/**
 * fetchPage: one lease, at most one request. Decides after the grant, from the stored robots.txt, what the slot is spent
 * on; refuses a lease it cannot keep; reports to the throttle as soon as the last byte is in.
 */
import { Context } from '@temporalio/activity';
import type { AttemptReport } from '../src/attempt.ts';
import { robotsUrl } from '../src/robots/index.ts';
import { crawlStatus } from '../src/storage/crawls.ts';
import { originOf } from '../src/urls/index.ts';
import type { RobotsHop } from '../workflows/pages.ts';
import type { Ask, Lease } from '../workflows/throttle/types.ts';
import type { Deps } from './deps.ts';
import { fetchDocument } from './fetch-document.ts';
import { fetchRobots } from './fetch-robots.ts';
import { LeaseKeeper } from './lease-keeper.ts';
import { decideByRobots } from './robots-decision.ts';

export interface FetchInput {
  crawlId: string;
  pageId: string;
  url: string;
  /** Whose slot this is: the page's domain, or the one a redirected robots.txt led to. */
  domain: string;
  lease: Lease;
  /** As it was asked: asking again is how the throttle's clock is learned anew. */
  ask: Ask;
  robotsHop: RobotsHop | null;
}

/** `reported`: the throttle has heard what became of the lease; otherwise the page tells it. */
export type FetchResult = { reported: boolean } & (
  | { kind: 'attempt'; report: AttemptReport }
  /** The slot was not used: ask for another; it costs nothing. */
  | { kind: 'refused'; reason: string }
  /** The slot was spent on robots.txt: ask for another, ahead of everybody. */
  | { kind: 'robots-read' }
  | { kind: 'robots-moved'; hop: RobotsHop }
  /** Nobody may fetch this page before then. */
  | { kind: 'held'; until: number; reason: string }
  /** Something on our own side broke. */
  | { kind: 'trouble'; reason: string; sent: boolean }
);

export type Unreported = FetchResult extends infer R
  ? R extends unknown
    ? Omit<R, 'reported'>
    : never
  : never;

export function makeFetchPage(deps: Deps) {
  return async function fetchPage(input: FetchInput): Promise<FetchResult> {
    const context = Context.current();
    const lease = new LeaseKeeper(deps, input, context.cancellationSignal);
    const beat = setInterval(() => context.heartbeat(), deps.config.heartbeatMs / 3);
    try {
      const result = await spend(deps, input, lease);
      return { ...result, reported: await lease.report() };
    } catch (error) {
      const reported = await lease.report();
      // A worker that stops has not lost the page; a page that was cancelled wants no result.
      const { aborted, reason: why } = context.cancellationSignal;
      if (aborted && !context.cancellationDetails?.workerShutdown) throw why;
      deps.log.error({ url: input.url, err: error }, 'a fetch broke off');
      const reason = error instanceof Error ? error.message : String(error);
      return { kind: 'trouble', reason, sent: lease.sent, reported };
    } finally {
      clearInterval(beat);
    }
  };
}

async function spend(deps: Deps, input: FetchInput, lease: LeaseKeeper): Promise<Unreported> {
  if (input.robotsHop !== null) return fetchRobots(deps, input, lease, input.robotsHop);
  const status = await crawlStatus(deps.db, input.crawlId);
  if (status !== 'Running') return { kind: 'refused', reason: `the crawl is ${status}` };
  const decision = await decideByRobots(deps, input.url, input.domain);
  switch (decision.kind) {
    case 'fetch':
      return fetchDocument(deps, input, lease);
    case 'read-robots': {
      const origin = originOf(input.url);
      return fetchRobots(deps, input, lease, {
        origin,
        url: robotsUrl(origin),
        domain: input.domain,
        hop: 0,
      });
    }
    case 'held':
      return decision;
    case 'disallowed':
      return { kind: 'attempt', report: blockedReport(decision.why) };
  }
}

export function blockedReport(why: string): AttemptReport {
  return {
    outcome: 'BlockedRobots',
    statusCode: null,
    errorKind: 'robots',
    error: why,
    request: null,
    finishedAt: Date.now(),
    latencyMs: null,
    bytes: null,
    found: { kind: 'nothing' },
  };
}
