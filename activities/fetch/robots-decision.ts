/** Whether a page may be fetched, decided after the grant from the stored robots.txt of its origin. */
import type { AllowedBy } from '../../src/core/attempt.ts';
import { formatDuration } from '../../src/core/format.ts';
import type { Lease } from '../../src/core/slot-protocol.ts';
import { productToken } from '../../src/http/index.ts';
import { type RobotsAnswer, robotsUrl } from '../../src/robots/index.ts';
import { knownForMs } from '../../src/storage/pages/page-age.ts';
import { consultRobots } from '../../src/storage/robots.ts';
import { originOf } from '../../src/urls/index.ts';
import type { Deps } from '../deps.ts';

export type RobotsDecision =
  | { kind: 'fetch'; allowedBy: AllowedBy }
  /** The rules are missing or old, and this page is the one to fetch them. */
  | { kind: 'read-robots' }
  | { kind: 'held'; until: number; reason: string }
  /** The lease is no longer what the site asks for; another one will be. */
  | { kind: 'refused'; reason: string }
  | { kind: 'disallowed'; why: string };

export interface Decidable {
  pageId: string;
  url: string;
  domain: string;
  lease: Pick<Lease, 'notBefore' | 'minGapMs'>;
  /** This page has spent its last slot on robots.txt; old rules will do, or it would do nothing else. */
  justTried: boolean;
}

/** A claim ends long before its time as a rule: the others look again this soon. */
const LOOK_AGAIN_MS = 5_000;

/** A claim outlives its fetch by little: should its worker die, the next page may try. */
const CLAIM_SLACK_MS = 10_000;

export async function decideByRobots(
  deps: Pick<Deps, 'db' | 'config' | 'robotsRules'>,
  { pageId, url, domain, lease, justTried }: Decidable,
): Promise<RobotsDecision> {
  const origin = originOf(url);
  const { config, db, robotsRules } = deps;
  const agent = productToken(config.userAgent);
  const asked = { origin, domain, agent, claimMs: claimMs(deps), oldRulesDo: justTried };
  const stored = await consultRobots(db, asked);
  switch (stored.kind) {
    case 'claimed':
      return { kind: 'read-robots' };
    case 'held':
      // A claim is no failure: somebody is about to know.
      if (stored.beingFetched) {
        const until = Math.min(stored.until, Date.now() + LOOK_AGAIN_MS);
        return { kind: 'held', until, reason: stored.why };
      }
      if (await isPatienceOver(deps, pageId, stored.failingForMs)) {
        return { kind: 'disallowed', why: givenUp(stored.why, stored.failingForMs) };
      }
      return { kind: 'held', until: stored.until, reason: stored.why };
    case 'rules': {
      const fetch = { kind: 'fetch', allowedBy: { rulesId: stored.rulesId, agent } } as const;
      if (stored.body === null) return fetch;
      const text = { origin, token: agent, fetchedAt: stored.fetchedAt, text: stored.body };
      const rules = robotsRules.get(text);
      const answer = rules.check(url);
      if (answer !== 'allowed') return { kind: 'disallowed', why: disallowedBy(origin, answer) };
      const requiredMs = Math.min(rules.crawlDelayMs ?? 0, config.throttle.maxCrawlDelayMs);
      if (requiredMs > lease.minGapMs && stored.fetchedAt > lease.notBefore - config.throttle.grantLeadMs)
        return { kind: 'refused', reason: 'it was granted before robots.txt asked for a longer gap' };
      return fetch;
    }
  }
}

/** A page gives up once it has waited for as long itself: what failed yesterday, for another crawl, is no day of waiting. */
export async function isPatienceOver(
  { db, config }: Pick<Deps, 'db' | 'config'>,
  pageId: string,
  failingForMs: number,
): Promise<boolean> {
  const { giveUpMs } = config.robots;
  return failingForMs > giveUpMs && (await knownForMs(db, pageId)) > giveUpMs;
}

function disallowedBy(origin: string, answer: Exclude<RobotsAnswer, 'allowed'>): string {
  const reason = answer === 'too-costly' ? ': its rules are too costly to evaluate for this URL' : '';
  return `Disallowed by ${robotsUrl(origin)}${reason}.`;
}

export function givenUp(why: string, failingForMs: number): string {
  return `${why} Given up after ${formatDuration(failingForMs)} without it.`;
}

export function claimMs({ config }: Pick<Deps, 'config'>): number {
  return config.crawl.fetch.totalTimeoutMs + CLAIM_SLACK_MS;
}
