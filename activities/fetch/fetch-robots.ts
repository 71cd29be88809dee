/** Uses the lease for robots.txt. The page itself follows a redirect, with a slot of the host it leads to. */
import type { FetchInput, FetchOutcome } from '../../src/core/activities.ts';
import type { RobotsHop } from '../../src/core/page-input.ts';
import {
  type FailedExchange,
  type FetchMemory,
  identityHeaders,
  productToken,
  type ResponseExchange,
} from '../../src/http/index.ts';
import {
  freshnessMs,
  hasRulesInBody,
  MAX_ROBOTS_BYTES,
  parseRobots,
  type RobotsResponse,
  readRobotsResponse,
} from '../../src/robots/index.ts';
import { letInHost } from '../../src/storage/frontier/host-bounds.ts';
import {
  extendRobotsClaim,
  hasRobotsTxt,
  type RobotsReader,
  releaseRobotsClaim,
  saveRobotsRules,
} from '../../src/storage/robots.ts';
import { politenessKey } from '../../src/urls/index.ts';
import type { Deps } from '../deps.ts';
import type { LeaseKeeper } from '../slot/lease-keeper.ts';
import { sendWithLease } from '../slot/send-with-lease.ts';
import { agentFor, costOf, forbiddenReport, ownFaultOf } from './fetch-document.ts';
import { claimMs } from './robots-decision.ts';
import { deferOrigin } from './robots-unavailable.ts';

/** RFC 9309, 2.3.1.2: at least five redirects are followed; beyond that the file counts as unavailable. */
const MAX_HOPS = 5;

export async function fetchRobots(
  deps: Deps,
  input: FetchInput,
  lease: LeaseKeeper,
  memory: FetchMemory,
  target: RobotsHop,
): Promise<FetchOutcome> {
  const { db, config } = deps;
  const { settings } = await deps.crawlOf(input.crawlId);
  const sent = await sendWithLease(deps, input, lease, {
    url: target.url,
    headers: { ...identityHeaders(config), accept: 'text/plain,*/*;q=0.1' },
    limits: { ...settings.fetch, maxBodyBytes: MAX_ROBOTS_BYTES },
    agent: agentFor(deps, settings),
    memory,
    // For any other response the headers are enough: a broken body must not change what they mean.
    acceptBody: hasRulesInBody,
    tooLarge: 'truncate',
    allowedBy: null,
  });
  if (sent.kind === 'not-sent') {
    // The claim is free for the next page, unless a redirect is being followed, which asks again.
    if (target.hop === 0 || sent.outcome.kind === 'deferred') await releaseRobotsClaim(db, target.origin);
    return sent.outcome;
  }
  const { exchange } = sent;
  if (exchange.kind === 'error' && exchange.errorKind === 'aborted') {
    await lease.record();
    await releaseRobotsClaim(db, target.origin);
    throw new Error(exchange.message);
  }
  const ownFault = ownFaultOf(exchange, lease);
  if (ownFault !== null) {
    // Neither the pages of the site nor the next try wait for a fault of our own.
    await lease.report();
    await lease.record();
    await releaseRobotsClaim(db, target.origin);
    return { kind: 'internal-error', reason: ownFault, sent: lease.sent, cost: costOf(lease) };
  }
  if (exchange.kind === 'error' && exchange.errorKind === 'forbidden' && target.hop === 0) {
    // The page has the same address: reject it now, instead of waiting for a robots.txt that may not be fetched.
    await releaseRobotsClaim(db, target.origin);
    return { kind: 'attempt', report: forbiddenReport(exchange.message) };
  }
  const verdict = await withinBounds(deps, input, target, verdictOf(exchange, target));
  const statusCode = exchange.kind === 'response' ? exchange.status : null;
  const reader = {
    domain: politenessKey(target.origin, config.politenessKey),
    agent: productToken(config.userAgent),
  };
  const hasCrawlDelay = await reportCrawlDelay(deps, lease, { origin: target.origin, ...reader }, verdict);
  const delivered = await lease.report();
  await lease.record();
  switch (verdict.kind) {
    case 'rules':
    case 'allow-all': {
      if (hasCrawlDelay && !delivered) {
        // Stored now, the rules would be fresh for a day in which the throttle does not know their Crawl-delay.
        await releaseRobotsClaim(db, target.origin);
        const reason = 'the Crawl-delay of robots.txt could not be reported to the throttle';
        return { kind: 'internal-error', reason, sent: lease.sent, cost: costOf(lease) };
      }
      const cacheControl = exchange.kind === 'response' ? exchange.headers['cache-control'] : undefined;
      await saveRobotsRules(db, target.origin, {
        ...reader,
        body: verdict.kind === 'rules' ? verdict.text : null,
        statusCode,
        freshMs: freshnessMs(cacheControl, config.robots.fresh),
        maxCrawlDelayMs: config.throttle.maxCrawlDelayMs,
      });
      return { kind: 'robots-read' };
    }
    case 'redirect':
      await extendRobotsClaim(db, target.origin, claimMs(deps));
      return {
        kind: 'robots-moved',
        hop: {
          origin: target.origin,
          url: verdict.to,
          domain: politenessKey(verdict.to, config.politenessKey),
          hop: target.hop + 1,
        },
      };
    case 'unreachable':
      return deferOrigin(deps, {
        origin: target.origin,
        pageId: input.pageId,
        statusCode,
        error: verdict.reason,
      });
  }
}

function verdictOf(exchange: ResponseExchange | FailedExchange, { url, hop }: RobotsHop): RobotsResponse {
  const verdict = readRobotsResponse(exchange, url);
  return verdict.kind === 'redirect' && hop >= MAX_HOPS ? { kind: 'allow-all' } : verdict;
}

/** Any robots.txt may lead to any host and port, so each hop is bound like a link. */
async function withinBounds(
  { db, crawlOf }: Deps,
  { crawlId }: FetchInput,
  { url: foundOn }: RobotsHop,
  verdict: RobotsResponse,
): Promise<RobotsResponse> {
  if (verdict.kind !== 'redirect') return verdict;
  const { settings } = await crawlOf(crawlId);
  const refusal = await letInHost(db, settings, { crawlId, foundOn, url: verdict.to });
  if (refusal === null) return verdict;
  return { kind: 'unreachable', reason: `its redirect was not followed: ${refusal}` };
}

/** The Crawl-delay goes to the throttle with the release; true: there is one, or one that no longer applies. */
async function reportCrawlDelay(
  { db, config, log }: Deps,
  lease: LeaseKeeper,
  { origin, domain, agent }: RobotsReader & { origin: string },
  verdict: RobotsResponse,
): Promise<boolean> {
  if (verdict.kind !== 'rules' && verdict.kind !== 'allow-all') return false;
  // A robots.txt that is gone takes its Crawl-delay with it. If none was known, there is nothing to report.
  if (verdict.kind === 'allow-all' && !(await hasRobotsTxt(db, origin))) return false;
  const delayMs =
    verdict.kind === 'rules' ? parseRobots(verdict.text, { origin, token: agent }).crawlDelayMs : null;
  const { maxCrawlDelayMs } = config.throttle;
  if (delayMs !== null && delayMs > maxCrawlDelayMs) {
    log.warn(
      { origin, crawlDelayMs: delayMs, maxCrawlDelayMs },
      'Crawl-delay is above maxCrawlDelay; using the maximum',
    );
  }
  lease.setCrawlDelay({ origin, delayMs }, domain);
  return true;
}
