/** Spends the lease on robots.txt. A redirect is followed by the page with a slot of the host it leads to. */

import type { RobotsHop } from '../../src/core/page-input.ts';
import {
  type FailedExchange,
  identityHeaders,
  isTimeout,
  productToken,
  type ResponseExchange,
  sendRequest,
} from '../../src/http/index.ts';
import {
  freshnessMs,
  hasRulesInBody,
  MAX_ROBOTS_BYTES,
  parseRobots,
  type RobotsResponse,
  readRobotsResponse,
} from '../../src/robots/index.ts';
import { extendClaim, knowsRobots, type Reader, saveRules, unclaimRobots } from '../../src/storage/robots.ts';
import { politenessKey } from '../../src/urls/index.ts';
import type { Deps } from '../deps.ts';
import type { LeaseKeeper } from '../slot/lease-keeper.ts';
import { agentFor, OUR_OWN_DOING, refusedReport } from './fetch-document.ts';
import type { FetchInput, Unreported } from './fetch-page.ts';
import { claimMs } from './robots-decision.ts';
import { noteMiss } from './robots-unavailable.ts';

/** RFC 9309, 2.3.1.2: at least five are followed; beyond that the file counts as unavailable. */
const MOST_HOPS = 5;

export async function fetchRobots(
  deps: Deps,
  input: FetchInput,
  lease: LeaseKeeper,
  target: RobotsHop,
): Promise<Unreported> {
  const { db, config } = deps;
  const { settings } = await deps.crawlOf(input.crawlId);
  const refusal = await lease.ready();
  if (refusal !== null) return notSent(deps, target, refusal);
  const exchange = await sendRequest({
    url: target.url,
    headers: { ...identityHeaders(config), accept: 'text/plain,*/*;q=0.1' },
    limits: { ...settings.fetch, maxBodyBytes: MAX_ROBOTS_BYTES },
    agent: agentFor(deps, settings),
    gate: lease.gate,
    signal: lease.signal,
    // Any other answer says all it has to say in its head: a body that is broken must not make another one of it.
    acceptBody: hasRulesInBody,
    tooLarge: 'truncate',
  });
  lease.conclude(exchange, target.url, null);
  if (exchange.kind === 'refused') return notSent(deps, target, exchange.reason);
  if (exchange.kind === 'error' && exchange.errorKind === 'aborted') {
    await lease.record();
    await unclaimRobots(db, target.origin);
    throw new Error(exchange.message);
  }
  if (exchange.kind === 'error' && isTimeout(exchange.errorKind) && lease.stoodStill) {
    // Nothing was learned of the site: neither its pages nor the next try shall wait for what was our own doing.
    await lease.report();
    await lease.record();
    await unclaimRobots(db, target.origin);
    return { kind: 'trouble', reason: OUR_OWN_DOING, sent: lease.sent };
  }
  if (exchange.kind === 'error' && exchange.errorKind === 'forbidden' && target.hop === 0) {
    // The page itself is at that address: it is refused now, instead of waiting for a robots.txt nobody may read.
    await unclaimRobots(db, target.origin);
    return { kind: 'attempt', report: refusedReport(exchange) };
  }
  const verdict = verdictOf(exchange, target);
  const statusCode = exchange.kind === 'response' ? exchange.status : null;
  const reader = {
    domain: politenessKey(target.origin, config.politenessKey),
    agent: productToken(config.userAgent),
  };
  const noted = await noteCrawlDelay(deps, lease, { origin: target.origin, ...reader }, verdict);
  const heard = await lease.report();
  await lease.record();
  switch (verdict.kind) {
    case 'rules':
    case 'allow-all': {
      if (noted && !heard) {
        // Stored now, the rules would be fresh for a day in which nobody knows their Crawl-delay.
        await unclaimRobots(db, target.origin);
        return { kind: 'trouble', reason: 'the throttle could not be told of robots.txt', sent: lease.sent };
      }
      const cacheControl = exchange.kind === 'response' ? exchange.headers['cache-control'] : undefined;
      await saveRules(db, target.origin, {
        ...reader,
        body: verdict.kind === 'rules' ? verdict.text : null,
        statusCode,
        freshMs: freshnessMs(cacheControl, config.robots.fresh),
        maxCrawlDelayMs: config.throttle.maxCrawlDelayMs,
      });
      return { kind: 'robots-read' };
    }
    case 'redirect':
      await extendClaim(db, target.origin, claimMs(deps));
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
      return noteMiss(deps, {
        origin: target.origin,
        pageId: input.pageId,
        statusCode,
        error: verdict.reason,
      });
  }
}

function verdictOf(exchange: ResponseExchange | FailedExchange, { url, hop }: RobotsHop): RobotsResponse {
  const verdict = readRobotsResponse(exchange, url);
  return verdict.kind === 'redirect' && hop >= MOST_HOPS ? { kind: 'allow-all' } : verdict;
}

/** What the site asks for now goes to its throttle with the release; true: there is something to tell. */
async function noteCrawlDelay(
  { db, config, log }: Deps,
  lease: LeaseKeeper,
  { origin, domain, agent }: Reader & { origin: string },
  verdict: RobotsResponse,
): Promise<boolean> {
  if (verdict.kind !== 'rules' && verdict.kind !== 'allow-all') return false;
  // A robots.txt that is gone takes its Crawl-delay with it; where none was known, the throttle is spared a write.
  if (verdict.kind === 'allow-all' && !(await knowsRobots(db, origin))) return false;
  const delayMs =
    verdict.kind === 'rules' ? parseRobots(verdict.text, { origin, token: agent }).crawlDelayMs : null;
  const { maxCrawlDelayMs } = config.throttle;
  if (delayMs !== null && delayMs > maxCrawlDelayMs) {
    log.warn(
      { origin, crawlDelayMs: delayMs, maxCrawlDelayMs },
      'robots.txt asks for a Crawl-delay above maxCrawlDelay, which is kept instead',
    );
  }
  lease.noteCrawlDelay({ origin, delayMs }, domain);
  return true;
}

/** Nothing went out: the claim is free for the next page; a hop under way keeps its claim and asks again. */
async function notSent({ db }: Deps, target: RobotsHop, reason: string): Promise<Unreported> {
  if (target.hop === 0) await unclaimRobots(db, target.origin);
  return { kind: 'refused', reason };
}
