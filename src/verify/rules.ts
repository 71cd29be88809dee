/** Whether a request was allowed by the rules that are recorded with it, whatever has replaced them since. */
import { LRUCache } from 'lru-cache';
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

/** dropped: this origin has had too many versions to keep all. too-slow: evaluating the rules of all requests took too long. */
export type UnknownRules = 'dropped' | 'too-slow';

export type RulesVerdict = { kind: 'allowed' } | { kind: UnknownRules } | { kind: 'disallowed'; why: string };

/** null: they are not on record. */
type ReadRules = (id: string, url: string) => Promise<StoredRules | 'dropped' | null>;

/** Each may have 500 KiB. */
const MAX_CACHED_RULES = 64;

/** Pages are fetched again, by one crawl after another. Characters of their URLs. */
const MAX_CACHED_VERDICTS = 4 * 1024 * 1024;

/**
 * Judges requests by their rules. A robots.txt may be made to take 14 ms for each of them, so verdicts are cached, and for all that is
 * not cached there is only so much time.
 */
export class RulesJudge {
  readonly #rules = new LRUCache<string, Promise<ParsedRules | UnknownRules | null>>({
    max: MAX_CACHED_RULES,
  });
  readonly #verdicts = new LRUCache<string, boolean>({ maxSize: MAX_CACHED_VERDICTS });
  #spentMs = 0;

  constructor(
    private readonly read: ReadRules,
    private readonly maxMs: number,
  ) {}

  /** The rules that a request was allowed by. null: none are on record. */
  rulesOf({ allowedBy, url }: RecordedRequest): Promise<ParsedRules | UnknownRules | null> {
    if (allowedBy === null) return Promise.resolve(null);
    const { rulesId, agent } = allowedBy;
    const key = keyOf(allowedBy);
    const rules = this.#rules.get(key) ?? this.#readRules(rulesId, url, agent);
    this.#rules.set(key, rules);
    return rules;
  }

  async judge(request: RecordedRequest): Promise<RulesVerdict> {
    const { isRobots, allowedBy, url } = request;
    if (isRobots) return { kind: 'allowed' };
    const rules = await this.rulesOf(request);
    if (allowedBy === null || rules === null) return disallowed('no rules are on record that allowed it');
    if (typeof rules === 'string') return { kind: rules };
    if (rules.origin !== originOf(url)) return disallowed(`it was judged by the rules of ${rules.origin}`);
    const key = `${keyOf(allowedBy)} ${url}`;
    let isAllowed = this.#verdicts.get(key);
    if (isAllowed === undefined) {
      if (this.#isTimeUp()) return { kind: 'too-slow' };
      isAllowed = this.#timed(() => rules.isAllowed(url));
      this.#verdicts.set(key, isAllowed, { size: key.length });
    }
    if (isAllowed) return { kind: 'allowed' };
    return disallowed(`${rules.origin}/robots.txt disallowed it for ${allowedBy.agent} at that time`);
  }

  async #readRules(id: string, url: string, agent: string): Promise<ParsedRules | UnknownRules | null> {
    if (this.#isTimeUp()) return 'too-slow';
    const stored = await this.read(id, url);
    if (stored === null || stored === 'dropped') return stored;
    return this.#timed(() => parseRules(stored, agent));
  }

  #isTimeUp(): boolean {
    return this.#spentMs >= this.maxMs;
  }

  #timed<T>(work: () => T): T {
    const began = performance.now();
    const result = work();
    this.#spentMs += performance.now() - began;
    return result;
  }
}

function keyOf({ rulesId, agent }: { rulesId: string; agent: string }): string {
  return `${rulesId} ${agent}`;
}

function disallowed(why: string): RulesVerdict {
  return { kind: 'disallowed', why };
}

function parseRules({ origin, storedAtMs, body, maxCrawlDelayMs }: StoredRules, agent: string): ParsedRules {
  if (body === null) return { origin, storedAtMs, isAllowed: () => true, crawlDelayMs: null };
  const { isAllowed, crawlDelayMs } = parseRobots(body, { origin, token: agent });
  return {
    origin,
    storedAtMs,
    isAllowed,
    crawlDelayMs: crawlDelayMs && Math.min(crawlDelayMs, maxCrawlDelayMs),
  };
}
