/** What a robots.txt allows the crawler that goes by a product token (RFC 9309). robots-parser decides on normalised rules. */
import { LRUCache } from 'lru-cache';
import robotsParser from 'robots-parser';
import { normaliseUrl } from '../urls/index.ts';
import { EvaluationCost, MAX_EVALUATION_COST } from './evaluation-cost.ts';
import { readRobots } from './group.ts';
import { normaliseOctets } from './octets.ts';

/** too-costly: evaluating the rules for this URL would take too long, so it counts as disallowed. */
export type RobotsAnswer = 'allowed' | 'disallowed' | 'too-costly';

export interface RobotsRules {
  /** `url` must belong to the origin that the rules come from. */
  check(url: string): RobotsAnswer;
  isAllowed(url: string): boolean;
  /** null: the file asks for none. */
  readonly crawlDelayMs: number | null;
  /** The URLs of the `Sitemap` lines, normalised, each once, on any host. They apply to every agent. */
  readonly sitemaps: readonly string[];
}

export function robotsUrl(origin: string): string {
  return `${origin}/robots.txt`;
}

export function parseRobots(text: string, { origin, token }: { origin: string; token: string }): RobotsRules {
  const { group, sitemaps } = readRobots(text, token);
  const { rules, hasTooManyRules, crawlDelayMs } = group;
  // Only on demand: a robots.txt is also read for its Crawl-delay or its sitemaps alone.
  let evaluation: { cost: EvaluationCost; parser: ReturnType<typeof robotsParser> } | null = null;
  const evaluate = () => {
    evaluation ??= {
      cost: new EvaluationCost(rules),
      parser: robotsParser(robotsUrl(origin), ['User-agent: *', ...rules].join('\n')),
    };
    return evaluation;
  };
  const check = (url: string): RobotsAnswer => {
    const { origin: urlOrigin, pathname, search } = new URL(url);
    if (urlOrigin !== origin) throw new Error(`The robots.txt of ${origin} does not apply to ${url}.`);
    if (pathname === '/robots.txt') return 'allowed';
    if (hasTooManyRules) return 'too-costly';
    const path = normaliseOctets(pathname + search);
    const { cost, parser } = evaluate();
    if (cost.of(path) > MAX_EVALUATION_COST) return 'too-costly';
    return parser.isAllowed(origin + path) ? 'allowed' : 'disallowed';
  };
  return {
    check,
    isAllowed: (url) => check(url) === 'allowed',
    crawlDelayMs,
    // Only on demand: normalising many URLs takes longer than any decision.
    get sitemaps() {
      return normaliseAll(sitemaps, origin);
    },
  };
}

/** The `Allow` and `Disallow` lines that apply to a token, normalised, for people to read, and its Crawl-delay. */
export function rulesFor(text: string, token: string): { rules: string[]; crawlDelayMs: number | null } {
  const { rules, crawlDelayMs } = readRobots(text, token).group;
  return { rules: [...rules], crawlDelayMs };
}

function normaliseAll(urls: Iterable<string>, origin: string): string[] {
  const results = Array.from(urls, (url) => normaliseUrl(url, robotsUrl(origin)));
  return [...new Set(results.flatMap((result) => (result.ok ? [result.url] : [])))];
}

interface RobotsSource {
  origin: string;
  token: string;
  /** Distinguishes one version of the text from the next. */
  rulesId: string;
}

export interface RobotsRulesCache {
  /** Reads the text only if its rules are not cached: it may have 500 KiB. */
  get(source: RobotsSource, readText: () => Promise<string>): Promise<RobotsRules>;
}

/** About a thousand sites; up to a hundred megabytes of memory if every line of them is a rule. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Origins without any rule have no characters to count. */
const MAX_ORIGINS = 10_000;

/**
 * Keeps parsed rules, so that not every page has to parse its site's robots.txt again. Bounded by size too, because a hostile host
 * may have many names, with 500 KiB of rules for each.
 */
export function createRobotsRulesCache(maxCharacters = MAX_CHARACTERS): RobotsRulesCache {
  const cache = new LRUCache<string, RobotsRules>({ max: MAX_ORIGINS, maxSize: maxCharacters });
  return {
    async get(source, readText) {
      const key = `${source.token} ${source.rulesId}`;
      const known = cache.get(key);
      if (known !== undefined) return known;
      const text = await readText();
      const rules = parseRobots(text, source);
      cache.set(key, rules, { size: Math.max(1, text.length) });
      return rules;
    },
  };
}
