/** Whether a request was allowed by the rules it was judged by: those recorded with it, whatever has replaced them since. */
import { parseRobots } from '../robots/index.ts';
import { originOf } from '../urls/index.ts';
import type { RecordedRequest, StoredRules } from './types.ts';

/** What kept rules say to one agent: read once for all the requests that were judged by them. */
export interface ParsedRules {
  origin: string;
  storedAtMs: number;
  isAllowed(url: string): boolean;
  /** As much of it as was heeded; null: they name none. */
  crawlDelayMs: number | null;
}

export function parseRules(
  { origin, storedAtMs: keptAtMs, body, maxCrawlDelayMs }: StoredRules,
  agent: string,
): ParsedRules {
  if (body === null) return { origin, storedAtMs: keptAtMs, isAllowed: () => true, crawlDelayMs: null };
  const { isAllowed, crawlDelayMs } = parseRobots(body, { origin, token: agent });
  return {
    origin,
    storedAtMs: keptAtMs,
    isAllowed,
    crawlDelayMs: crawlDelayMs && Math.min(crawlDelayMs, maxCrawlDelayMs),
  };
}

/** Why the request should not have been made, or cannot be proven to have been allowed; null: it was. */
export function whyDisallowed(request: RecordedRequest, rules: ParsedRules | null): string | null {
  if (request.isRobots) return null;
  if (rules === null) return 'no rules are on record that allowed it';
  if (rules.origin !== originOf(request.url)) return `it was judged by the rules of ${rules.origin}`;
  if (!rules.isAllowed(request.url)) {
    return `${rules.origin}/robots.txt, as it was then, disallows it for ${request.allowedBy?.agent}`;
  }
  return null;
}
