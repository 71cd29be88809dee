/** Whether a page may be fetched, decided after the grant from the stored robots.txt of its origin. */
import { productToken } from '../src/http/index.ts';
import { parseRobots, type RobotsRules } from '../src/robots/index.ts';
import { consultRobots } from '../src/storage/robots.ts';
import { originOf } from '../src/urls/index.ts';
import type { Deps } from './deps.ts';

export type RobotsDecision =
  | { kind: 'fetch' }
  /** The rules are missing or old, and this page is the one to fetch them. */
  | { kind: 'read-robots' }
  | { kind: 'held'; until: number; reason: string }
  | { kind: 'disallowed'; why: string };

/** A claim outlives its fetch by little: should its worker die, the next page may try. */
const CLAIM_SLACK_MS = 10_000;

/** Rules in use at a time in one process; parsing them for every page would be waste. */
const PARSED_KEPT = 500;

export async function decideByRobots(deps: Deps, url: string, domain: string): Promise<RobotsDecision> {
  const origin = originOf(url);
  const { config, db } = deps;
  const stored = await consultRobots(db, origin, domain, claimMs(deps));
  switch (stored.kind) {
    case 'claimed':
      return { kind: 'read-robots' };
    case 'held':
      // A claim is no failure: somebody is about to know.
      if (!stored.beingFetched && stored.failingForMs > config.robots.giveUpMs) {
        return { kind: 'disallowed', why: givenUp(stored.why) };
      }
      return { kind: 'held', until: stored.until, reason: stored.why };
    case 'rules': {
      if (stored.body === null) return { kind: 'fetch' };
      const rules = parsedOnce(origin, stored.fetchedAt, stored.body);
      if (rules.isAllowed(url, productToken(config.userAgent))) return { kind: 'fetch' };
      return { kind: 'disallowed', why: `Disallowed by ${origin}/robots.txt.` };
    }
  }
}

export function givenUp(why: string): string {
  return `${why} Given up.`;
}

export function claimMs({ config }: Deps): number {
  return config.crawl.fetch.totalTimeoutMs + CLAIM_SLACK_MS;
}

const parsed = new Map<string, { fetchedAt: number; rules: RobotsRules }>();

function parsedOnce(origin: string, fetchedAt: number, body: string): RobotsRules {
  const known = parsed.get(origin);
  if (known?.fetchedAt === fetchedAt) return known.rules;
  const rules = parseRobots(body, origin);
  parsed.delete(origin);
  parsed.set(origin, { fetchedAt, rules });
  const [oldest] = parsed.keys();
  if (parsed.size > PARSED_KEPT && oldest !== undefined) parsed.delete(oldest);
  return rules;
}
