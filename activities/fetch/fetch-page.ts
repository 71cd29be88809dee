/**
 * fetchPage: one lease, at most one request. Decides after the grant, by the stored robots.txt, what the slot is used for;
 * refuses a lease that it cannot keep; reports to the throttle as soon as the last byte has arrived.
 */
import { Context } from '@temporalio/activity';
import type { Activities, FetchInput, FetchOutcome, FetchResult } from '../../src/core/activities.ts';
import { messageOf } from '../../src/core/errors.ts';
import { INTERNAL_COST } from '../../src/core/retry-policy.ts';
import { type FetchMemory, productToken } from '../../src/http/index.ts';
import { robotsUrl } from '../../src/robots/index.ts';
import { type FetchContext, readFetchContext } from '../../src/storage/pages/fetch-context.ts';
import { releaseRobotsClaim } from '../../src/storage/robots.ts';
import { hostnameOf, originOf, zoneOf } from '../../src/urls/index.ts';
import { type ClockReading, readClocks } from '../../src/worker/clocks.ts';
import type { Deps } from '../deps.ts';
import { LeaseKeeper } from '../slot/lease-keeper.ts';
import { fetchDocument } from './fetch-document.ts';
import { fetchRobots } from './fetch-robots.ts';
import { decideByRobots } from './robots-decision.ts';
import { blocked } from './robots-unavailable.ts';

/**
 * For reading what a fetch has to know, and the name's addresses. If the gap is short, the request before this one may still be open
 * then, and change the gate.
 */
const READ_AHEAD_MS = { ofLongGap: 150, ofShortGap: 30 };
const LONG_GAP_MS = 1_000;

export function createFetchPage(deps: Deps): Activities['fetchPage'] {
  return (input) => fetchPage(deps, input, readClocks());
}

/** `receivedAt`: a time at which this process had the task. */
export async function fetchPage(
  deps: Deps,
  input: FetchInput,
  receivedAt: ClockReading,
): Promise<FetchResult> {
  const context = Context.current();
  const lease = new LeaseKeeper(deps, input, context.cancellationSignal, receivedAt);
  const memory = deps.bodyMemory.open(zoneOf(hostnameOf(input.robotsHop?.url ?? input.url)));
  try {
    const outcome = await useLease(deps, input, lease, memory);
    if (lease.entrance.isSpent) return repeatedTask();
    // The request is recorded with its attempt.
    if (outcome.kind === 'attempt' && outcome.report.request !== null) lease.unrecorded = null;
    return { ...outcome, ...(await lease.settle()) };
  } catch (error) {
    const leftToPage = await lease.settle();
    const { aborted, reason } = context.cancellationSignal;
    const isShutdown = context.cancellationDetails?.workerShutdown === true;
    // A cancelled page wants no result, unless something is left for it to deliver. A worker that stops has not lost the page.
    const isNothingLeft = leftToPage.undelivered === undefined && leftToPage.request === undefined;
    if (aborted && !isShutdown && isNothingLeft) throw reason;
    const isExplained = deps.dependencies.reportIfUnavailable(error) || aborted;
    if (!isExplained) deps.log.error({ url: input.url, err: error }, 'a fetch failed on our side');
    return {
      kind: 'internal-error',
      reason: messageOf(error),
      sent: lease.sent,
      cost: !aborted && (lease.sent || !isExplained) ? INTERNAL_COST.lostOrBug : INTERNAL_COST.none,
      ...leftToPage,
    };
  } finally {
    memory.release();
  }
}

/** The task was lost with its worker, or with a message, after the request had been let through. Nothing can be known of it. */
function repeatedTask(): FetchResult {
  const { lostOrBug: cost } = INTERNAL_COST;
  const undelivered = { use: { kind: 'lost' } } as const;
  return { kind: 'internal-error', reason: 'its worker stopped responding', sent: true, cost, undelivered };
}

async function useLease(
  deps: Deps,
  input: FetchInput,
  lease: LeaseKeeper,
  memory: FetchMemory,
): Promise<FetchOutcome> {
  // Pages come early. What is read now would be outdated by then: the request before this one changes the gate.
  const { ofLongGap, ofShortGap } = READ_AHEAD_MS;
  await lease.entrance.due(input.lease.minGapMs >= LONG_GAP_MS ? ofLongGap : ofShortGap);
  const before = readClocks();
  const known = await readFetchContext(deps.db, {
    crawlId: input.crawlId,
    pageId: input.pageId,
    url: input.url,
    reader: { domain: input.domain, agent: productToken(deps.config.userAgent) },
  });
  lease.entrance.seen(known.gate, before);
  const reason = whyStopped(known, input);
  if (reason !== null) {
    // Its page stops: another crawl's page must not wait for it to read robots.txt.
    if (input.robotsHop !== null) await releaseRobotsClaim(deps.db, input.robotsHop.origin);
    return { kind: 'refused', reason };
  }
  if (input.robotsHop !== null) return fetchRobots(deps, input, lease, memory, input.robotsHop);
  const decision = await decideByRobots(deps, {
    pageId: input.pageId,
    url: input.url,
    domain: input.domain,
    robots: known.robots,
    justTried: input.ask.atFront,
  });
  switch (decision.kind) {
    case 'fetch':
      lease.entrance.requireGap(decision.gapMs);
      return fetchDocument(deps, input, lease, memory, { allowedBy: decision.allowedBy, copy: known.copy });
    case 'read-robots': {
      const origin = originOf(input.url);
      return fetchRobots(deps, input, lease, memory, {
        origin,
        url: robotsUrl(origin),
        domain: input.domain,
        hop: 0,
      });
    }
    case 'deferred':
      return decision;
    case 'disallowed':
      return blocked(decision.reason);
  }
}

/** null: the page is to be fetched. Sitemaps are read whatever is excluded. */
function whyStopped(
  { crawlStatus, isOpen, excludedBy }: FetchContext,
  { sitemap }: FetchInput,
): string | null {
  if (excludedBy !== null && sitemap !== true) return 'the page is excluded';
  if (!isOpen) return 'the page has ended';
  return crawlStatus === 'Running' ? null : `the crawl is ${crawlStatus}`;
}
