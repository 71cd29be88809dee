/** Decides after the grant, by the stored robots.txt of the page's origin, whether the page may be fetched. */
import type { AllowedBy } from '../../src/core/attempt.ts';
import { formatDuration } from '../../src/core/format.ts';
import { productToken } from '../../src/http/index.ts';
import { type RobotsAnswer, robotsUrl } from '../../src/robots/index.ts';
import { pageAgeMs } from '../../src/storage/pages/page-row.ts';
import { lookUpRobots, type RobotsRow, readRulesText } from '../../src/storage/robots.ts';
import { originOf } from '../../src/urls/index.ts';
import type { Deps } from '../deps.ts';

export type RobotsDecision =
  /** `gapMs`: what the rules ask for, which the throttle may not know yet. */
  | { kind: 'fetch'; allowedBy: AllowedBy; gapMs: number }
  /** The rules are missing or old, and this page is the one to fetch them. */
  | { kind: 'read-robots' }
  | { kind: 'deferred'; until: number; reason: string }
  | { kind: 'disallowed'; reason: string };

export interface PageToDecide {
  pageId: string;
  url: string;
  domain: string;
  /** The row of the page's origin. */
  robots: RobotsRow | null;
  /** The page has just spent a slot on robots.txt: old rules will do, or it would never get any further. */
  justTried: boolean;
}

/**
 * A claim usually ends long before it expires: the others check again this soon, or after as long as it has lasted. Each check costs
 * a slot, and a host that never answers has many pages that wait for it.
 */
const MIN_CLAIM_POLL_MS = 2_000;

/** A claim lasts little longer than its fetch: if its worker dies, the next page may try. */
const CLAIM_SLACK_MS = 10_000;

export async function decideByRobots(
  deps: Pick<Deps, 'db' | 'config' | 'robotsRules'>,
  { pageId, url, domain, robots, justTried }: PageToDecide,
): Promise<RobotsDecision> {
  const origin = originOf(url);
  const { config, db, robotsRules } = deps;
  const agent = productToken(config.userAgent);
  const asked = { origin, domain, agent, claimMs: claimMs(deps), acceptStale: justTried };
  const stored = await lookUpRobots(db, asked, robots);
  switch (stored.kind) {
    case 'claimed':
      return { kind: 'read-robots' };
    case 'deferred':
      // Another page is fetching it right now: not a failure.
      if (stored.beingFetched) {
        const lastedMs = claimMs(deps) - (stored.until - Date.now());
        const until = Math.min(stored.until, Date.now() + Math.max(MIN_CLAIM_POLL_MS, lastedMs));
        return { kind: 'deferred', until, reason: stored.why };
      }
      if (await isPatienceOver(deps, pageId, stored.failingForMs)) {
        return { kind: 'disallowed', reason: givenUp(stored.why, stored.failingForMs) };
      }
      return { kind: 'deferred', until: stored.until, reason: stored.why };
    case 'rules': {
      const { rulesId } = stored;
      const allowedBy = { rulesId, agent };
      if (!stored.hasText) return { kind: 'fetch', allowedBy, gapMs: 0 };
      const rules = await robotsRules.get({ origin, token: agent, rulesId }, () =>
        readRulesText(db, rulesId),
      );
      const answer = rules.check(url);
      if (answer !== 'allowed') return { kind: 'disallowed', reason: disallowedBy(origin, answer) };
      const gapMs = Math.min(rules.crawlDelayMs ?? 0, config.throttle.maxCrawlDelayMs);
      return { kind: 'fetch', allowedBy, gapMs };
    }
  }
}

function disallowedBy(origin: string, answer: Exclude<RobotsAnswer, 'allowed'>): string {
  const reason = answer === 'too-costly' ? ': its rules are too costly to evaluate for this URL' : '';
  return `Disallowed by ${robotsUrl(origin)}${reason}.`;
}

/** A page gives up only after it has waited that long itself: a failure of yesterday's crawl does not count for it. */
export async function isPatienceOver(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  pageId: string,
  failingForMs: number,
): Promise<boolean> {
  const { outageGiveUpMs } = config.robots;
  return failingForMs > outageGiveUpMs && (await pageAgeMs(db, pageId)) > outageGiveUpMs;
}

export function givenUp(reason: string, failingForMs: number): string {
  return `${reason} Given up after ${formatDuration(failingForMs)} without it.`;
}

export function claimMs({ config }: Pick<Deps, 'config'>): number {
  return config.crawl.fetch.totalTimeoutMs + CLAIM_SLACK_MS;
}
