/**
 * What a robots.txt allows whoever goes by a product token (RFC 9309). Where the standard leaves a choice, or we depart
 * from Google's reference parser:
 * - `Crawl-delay`, which the standard does not know, holds for the agents named above it in its group; of several the
 *   longest counts. Like every other field it does not end a group's list of agents.
 * - Escapes of unreserved characters are undone, as the standard says and the reference parser does not.
 * - A pattern that starts with neither `/` nor `*` is read as if it started with `/`: its author meant something.
 * - `Allow: /x/index.html` does not allow `/x/` as well.
 */
import { normaliseUrl } from '../urls/index.ts';
import { readLines } from './lines.ts';
import { normaliseOctets } from './octets.ts';
import { compilePattern, type Pattern } from './pattern.ts';

export interface RobotsRules {
  /** `url` must be of the origin whose rules these are. */
  isAllowed(url: string): boolean;
  /** null: none is asked for. */
  readonly crawlDelayMs: number | null;
  /** As the `Sitemap` lines name them: normalised, each once, whatever host they are on. They are for everybody. */
  readonly sitemaps: readonly string[];
}

interface Rule {
  pattern: Pattern;
  allow: boolean;
}

/** All that is said to one agent, over all its groups. */
interface Group {
  rules: Rule[];
  crawlDelayMs: number | null;
}

export function robotsUrl(origin: string): string {
  return `${origin}/robots.txt`;
}

export function parseRobots(text: string, { origin, token }: { origin: string; token: string }): RobotsRules {
  const { group, sitemaps } = readGroups(text, origin, token);
  // The first that matches is then the one that decides.
  const rules = group.rules.sort(
    (one, other) => other.pattern.length - one.pattern.length || Number(other.allow) - Number(one.allow),
  );
  return {
    isAllowed(url) {
      const asked = new URL(url);
      if (asked.origin !== origin) throw new Error(`The robots.txt of ${origin} does not speak for ${url}.`);
      if (asked.pathname === '/robots.txt') return true;
      const path = normaliseOctets(asked.pathname + asked.search);
      return rules.find(({ pattern }) => pattern.matches(path))?.allow ?? true;
    },
    crawlDelayMs: group.crawlDelayMs,
    sitemaps: [...sitemaps],
  };
}

function readGroups(text: string, origin: string, token: string): { group: Group; sitemaps: Set<string> } {
  const everybody: Group = { rules: [], crawlDelayMs: null };
  const ours: Group = { rules: [], crawlDelayMs: null };
  const sitemaps = new Set<string>();
  let named = false;
  /** Whom the lines are for; nobody before the first group, or in one that names only others. */
  let addressed = new Set<Group>();
  let naming = false;
  for (const { field, value } of readLines(text)) {
    switch (field) {
      case 'user-agent': {
        if (!naming) addressed = new Set();
        naming = true;
        if (namesEverybody(value)) addressed.add(everybody);
        if (names(value, token)) {
          addressed.add(ours);
          named = true;
        }
        break;
      }
      case 'allow':
      case 'disallow':
        naming = false;
        addRule(addressed, value, field === 'allow');
        break;
      case 'crawl-delay':
        for (const group of addressed) group.crawlDelayMs = longer(group.crawlDelayMs, readDelayMs(value));
        break;
      case 'sitemap': {
        const sitemap = normaliseUrl(value, robotsUrl(origin));
        if (value !== '' && sitemap.ok) sitemaps.add(sitemap.url);
        break;
      }
    }
  }
  return { group: named ? ours : everybody, sitemaps };
}

function addRule(addressed: ReadonlySet<Group>, path: string, allow: boolean): void {
  // "Disallow:" without a path forbids nothing.
  if (path === '' || addressed.size === 0) return;
  const rule = { pattern: compilePattern(/^[/*]/.test(path) ? path : `/${path}`), allow };
  for (const group of addressed) group.rules.push(rule);
}

function namesEverybody(agent: string): boolean {
  return /^\*(\s|$)/.test(agent);
}

/** Compared up to the first character that no token has: "Amble/2.0 (archive)" means Amble. */
function names(agent: string, token: string): boolean {
  return /^[A-Za-z_-]+/.exec(agent)?.[0].toLowerCase() === token.toLowerCase();
}

/** A number too long to be one is a long delay all the same: whoever caps it needs a number. */
function readDelayMs(value: string): number | null {
  const seconds = /^\+?[\d.]/.test(value) ? Number(value) : 0;
  return seconds > 0 ? Math.ceil(Math.min(seconds * 1_000, Number.MAX_SAFE_INTEGER)) : null;
}

function longer(one: number | null, other: number | null): number | null {
  return one === null || other === null ? (one ?? other) : Math.max(one, other);
}
