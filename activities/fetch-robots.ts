/** Spends the lease on robots.txt. A redirect is followed by the page with a slot of the host it leads to. */
import { productToken, sendRequest } from '../src/http/index.ts';
import { MAX_ROBOTS_BYTES, parseRobots, robotsVerdict } from '../src/robots/index.ts';
import {
  extendClaim,
  recordRobotsRequest,
  saveRules,
  saveUnreachable,
  unclaimRobots,
} from '../src/storage/robots.ts';
import { politenessKey } from '../src/urls/index.ts';
import type { RobotsHop } from '../workflows/pages.ts';
import type { Deps } from './deps.ts';
import { agentFor, refusedReport } from './fetch-document.ts';
import { blockedReport, type FetchInput, type Unreported } from './fetch-page.ts';
import type { LeaseKeeper } from './lease-keeper.ts';
import { claimMs, givenUp } from './robots-decision.ts';

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
    headers: { 'user-agent': config.userAgent, accept: 'text/plain,*/*;q=0.1' },
    limits: { ...settings.fetch, maxBodyBytes: MAX_ROBOTS_BYTES },
    agent: agentFor(deps, settings),
    gate: lease.gate,
    signal: lease.signal,
    tooLarge: 'truncate',
  });
  const request = lease.conclude(exchange, target.url);
  if (exchange.kind === 'refused') return notSent(deps, target, exchange.reason);
  if (exchange.kind === 'error' && exchange.errorKind === 'aborted') {
    await unclaimRobots(db, target.origin);
    throw new Error(exchange.message);
  }
  if (exchange.kind === 'error' && exchange.errorKind === 'forbidden' && target.hop === 0) {
    // The page itself is at that address: it is refused now, instead of waiting for a robots.txt nobody may read.
    await unclaimRobots(db, target.origin);
    return { kind: 'attempt', report: refusedReport(exchange) };
  }
  const verdict = robotsVerdict(exchange, target.url);
  const statusCode = exchange.kind === 'response' ? exchange.status : null;
  if (verdict.kind === 'rules') {
    const delayMs = parseRobots(verdict.text, target.origin).crawlDelayMs(productToken(config.userAgent));
    lease.noteCrawlDelay(
      { origin: target.origin, delayMs },
      politenessKey(target.origin, config.politenessKey),
    );
  }
  const heard = await lease.report();
  if (request !== null)
    await recordRobotsRequest(db, { ...request, crawlId: input.crawlId, pageId: input.pageId });
  const { freshMs, holdMs, maxHoldMs, giveUpMs } = config.robots;
  switch (verdict.kind) {
    case 'rules':
      if (!heard) {
        // Stored now, the rules would be fresh for a day in which nobody knows their Crawl-delay.
        await unclaimRobots(db, target.origin);
        return { kind: 'trouble', reason: 'the throttle could not be told of robots.txt', sent: lease.sent };
      }
      await saveRules(db, target.origin, { body: verdict.text, statusCode: statusCode ?? 200, freshMs });
      return { kind: 'robots-read' };
    case 'allow-all':
      await saveRules(db, target.origin, { body: null, statusCode: statusCode ?? 404, freshMs });
      return { kind: 'robots-read' };
    case 'redirect':
      if (target.hop >= MOST_HOPS) {
        await saveRules(db, target.origin, { body: null, statusCode: statusCode ?? 302, freshMs });
        return { kind: 'robots-read' };
      }
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
    case 'unreachable': {
      const hold = await saveUnreachable(db, target.origin, {
        statusCode,
        error: verdict.reason,
        holdMs,
        maxHoldMs,
        giveUpMs,
      });
      const reason = `robots.txt of ${target.origin}: ${verdict.reason}`;
      // The page that tries must give up too, or it would be the last one of its crawl, for ever.
      if (hold.failingForMs > giveUpMs) return { kind: 'attempt', report: blockedReport(givenUp(reason)) };
      return { kind: 'held', until: hold.until, reason };
    }
  }
}

/** Nothing went out: the claim is free for the next page; a hop under way keeps its claim and asks again. */
async function notSent({ db }: Deps, target: RobotsHop, reason: string): Promise<Unreported> {
  if (target.hop === 0) await unclaimRobots(db, target.origin);
  return { kind: 'refused', reason };
}
