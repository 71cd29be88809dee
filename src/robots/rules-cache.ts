/** Keeps parsed rules, so that not every page has to parse its site's robots.txt again. */
import { LRUCache } from 'lru-cache';
import { parseRobots, type RobotsRules } from './rules.ts';

export interface RobotsSource {
  origin: string;
  token: string;
  /** Distinguishes one version of the text from the next. */
  fetchedAt: number;
  text: string;
}

export interface RobotsRulesCache {
  get(source: RobotsSource): RobotsRules;
}

/** About a thousand sites; up to a hundred megabytes of memory if every line of them is a rule. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

/** Origins without any rule have no characters to count. */
const MAX_ORIGINS = 10_000;

/** Bounded by size too, because a hostile host may have many names, with 500 KiB of rules for each. */
export function createRobotsRulesCache(maxCharacters = MAX_CHARACTERS): RobotsRulesCache {
  const cache = new LRUCache<string, RobotsRules>({ max: MAX_ORIGINS, maxSize: maxCharacters });
  return {
    get(source) {
      const key = `${source.origin} ${source.token} ${source.fetchedAt}`;
      const known = cache.get(key);
      if (known !== undefined) return known;
      const rules = parseRobots(source.text, source);
      cache.set(key, rules, { size: Math.max(1, source.text.length) });
      return rules;
    },
  };
}
