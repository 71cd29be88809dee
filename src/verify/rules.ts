/** Whether a request was allowed by the rules that are recorded with it, whatever has replaced them since. */
import { parseRobots } from '../robots/index.ts';
import { originOf } from '../urls/index.ts';
import type { RecordedRequest, StoredRules } from './types.ts';

/** Stored rules for one agent, parsed once for all requests that they allowed. */
export interface ParsedRules {
  origin: string;
  storedAtMs: number;
  isAllowed(url: string): boolean;
  /** Capped as the throttle capped it. null: the rules state none. */
  crawlDelayMs: number | null;
}

export function parseRules(
  { origin, storedAtMs, body, maxCrawlDelayMs }: StoredRules,
  agent: string,
): ParsedRules {
  if (body === null) return { origin, storedAtMs, isAllowed: () => true, crawlDelayMs: null };
  const { isAllowed, crawlDelayMs } = parseRobots(body, { origin, token: agent });
  return {
    origin,
    storedAtMs,
    isAllowed,
    crawlDelayMs: crawlDelayMs && Math.min(crawlDelayMs, maxCrawlDelayMs),
  };
}

/** Why the request should not have been sent, or cannot be proven to have been allowed. null: it was allowed. */
export function whyDisallowed(request: RecordedRequest, rules: ParsedRules | null): string | null {
  if (request.isRobots) return null;
  if (rules === null) return 'no rules are on record that allowed it';
  if (rules.origin !== originOf(request.url)) return `it was judged by the rules of ${rules.origin}`;
  if (!rules.isAllowed(request.url)) {
    return `${rules.origin}/robots.txt disallowed it for ${request.allowedBy?.agent} at that time`;
  }
  return null;
}
