/**
 * fetchPage: one lease, at most one request. Decides after the grant, from the stored robots.txt, what the slot is spent
 * on; refuses a lease it cannot keep; reports to the throttle as soon as the last byte is in.
 */
import { Context } from '@temporalio/activity';
import type { AttemptReport, RequestRecord } from '../../src/core/attempt.ts';
import { messageOf } from '../../src/core/error-chain.ts';
import type { RobotsHop } from '../../src/core/page-input.ts';
import type { Ask, Lease, LeaseReport } from '../../src/core/slot-protocol.ts';
import { robotsUrl } from '../../src/robots/index.ts';
import { crawlStatus } from '../../src/storage/crawls.ts';
import { unclaimRobots } from '../../src/storage/robots.ts';
import { originOf } from '../../src/urls/index.ts';
import { readClocks } from '../../src/worker/server-clock.ts';
import type { Deps } from '../deps.ts';
import { underRules } from '../slot/acquire-slot.ts';
import { LeaseKeeper } from '../slot/lease-keeper.ts';
import { fetchDocument } from './fetch-document.ts';
import { fetchRobots } from './fetch-robots.ts';
import { decideByRobots } from './robots-decision.ts';

export interface FetchInput {
  crawlId: string;
  pageId: string;
  url: string;
  /** What is fetched is a sitemap: other types and another limit hold. */
  sitemap?: true;
  /** Whose slot this is: the page's domain, or the one a redirected robots.txt led to. */
  domain: string;
  lease: Lease;
  /** As it was asked: asking again is how the throttle's clock is learned anew. */
  ask: Ask;
  robotsHop: RobotsHop | null;
}

/**
 * `reported`: the throttle has heard what became of the lease; otherwise the page tells it, in the words of `unsaid`. Results
 * of earlier versions lack that. `anyhow`: also where it is being cancelled. `unrecorded`: a request that went out, is no attempt, and
 * could not be recorded.
 */
export type Reported = { reported: boolean; unsaid?: LeaseReport; anyhow?: true; unrecorded?: RequestRecord };

export type FetchResult = Reported &
  (
    | { kind: 'attempt'; report: AttemptReport }
    /** The slot was not used: ask for another; it costs nothing. */
    | { kind: 'refused'; reason: string }
    /** The slot was spent on robots.txt: ask for another, ahead of everybody. */
    | { kind: 'robots-read' }
    | { kind: 'robots-moved'; hop: RobotsHop }
    /** Nobody may fetch this page before then. */
    | { kind: 'held'; until: number; reason: string }
    /**
     * Something on our own side broke. `counts`: the page may have too much of it, because its request was lost or because
     * nothing explains it but a bug; unset: as `sent`. A worker that stops in order never counts.
     */
    | { kind: 'trouble'; reason: string; sent: boolean; counts?: boolean }
  );

export type Unreported = FetchResult extends infer R
  ? R extends unknown
    ? Omit<R, keyof Reported>
    : never
  : never;

export function makeFetchPage(deps: Deps) {
  return async function fetchPage(input: FetchInput): Promise<FetchResult> {
    const context = Context.current();
    deps.clock.observe(context.info.currentAttemptScheduledTimestampMs, readClocks());
    const lease = new LeaseKeeper(deps, input, context.cancellationSignal);
    try {
      const result = await spend(deps, input, lease);
      // It is recorded with its attempt.
      if (result.kind === 'attempt' && result.report.request !== null) lease.unrecorded = null;
      return { ...result, ...(await lease.reportOrHandOn()) };
    } catch (error) {
      const reported = await lease.reportOrHandOn();
      const { aborted, reason: why } = context.cancellationSignal;
      const stopping = context.cancellationDetails?.workerShutdown === true;
      const cancelled = aborted && !stopping;
      // A worker that stops has not lost the page; a page that was cancelled wants no result, unless something is left to it.
      if (cancelled && reported.reported && lease.unrecorded === null) throw why;
      const explained = deps.dependencies.reportIfUnavailable(error) || aborted;
      if (!explained) deps.log.error({ url: input.url, err: error }, 'a fetch broke off');
      return {
        kind: 'trouble',
        reason: messageOf(error),
        sent: lease.sent,
        counts: aborted ? false : lease.sent || !explained,
        ...reported,
      };
    }
  };
}

async function spend(deps: Deps, input: FetchInput, lease: LeaseKeeper): Promise<Unreported> {
  const { concurrency } = await underRules(deps, input.domain, input.ask);
  lease.isConcurrent = concurrency > 1;
  const status = await crawlStatus(deps.db, input.crawlId);
  if (status !== 'Running') {
    // Its page steps aside: another crawl's page shall not wait for it to read robots.txt.
    if (input.robotsHop !== null) await unclaimRobots(deps.db, input.robotsHop.origin);
    return { kind: 'refused', reason: `the crawl is ${status}` };
  }
  if (input.robotsHop !== null) return fetchRobots(deps, input, lease, input.robotsHop);
  const decision = await decideByRobots(deps, {
    pageId: input.pageId,
    url: input.url,
    domain: input.domain,
    lease: input.lease,
    justTried: input.ask.atFront,
  });
  switch (decision.kind) {
    case 'fetch':
      return fetchDocument(deps, input, lease, decision.allowedBy);
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
    case 'refused':
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
