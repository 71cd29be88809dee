/**
 * Normalises a robots.txt for robots-parser: finds what applies to one product token, and rewrites its rules so that
 * robots-parser reads them as RFC 9309 does. Where the standard leaves a choice, or we depart from Google's reference parser:
 * - `Crawl-delay`, which is not part of the standard, applies to the agents named above it in its group. If there are several,
 *   the longest wins. Like any other field that is not a rule, it does not end a group's list of agents.
 * - Escapes of unreserved characters are undone, which the standard demands and the reference parser does not do.
 * - A pattern that starts with neither `/` nor `*` is read as if it started with `/`, which its author must have meant.
 * - `Allow: /x/index.html` does not allow `/x/` as well.
 */
import { normaliseOctets } from './octets.ts';

/** A site with more sitemaps lists them in an index. */
const MAX_SITEMAPS = 1_000;

/** robots-parser reads this many in about 10 ms. To fit into 500 KiB, more would have to be shorter than 35 characters each. */
const MAX_RULES = 15_000;

/** robots-parser reads this much in about 15 ms if it consists of escapes. Escaping can make 500 KiB three times as long. */
const MAX_RULES_LENGTH = 400 * 1024;

/** What applies to one agent, merged from all its groups. */
interface AgentRules {
  /** `Allow` and `Disallow` lines for robots-parser, each of them once. Incomplete if there are too many. */
  rules: ReadonlySet<string>;
  hasTooManyRules: boolean;
  /** null: the file asks for none. */
  crawlDelayMs: number | null;
}

class Group {
  private readonly rules = new Set<string>();
  /** The same as they were written: a hostile file may repeat a line 60,000 times that takes long to normalise. */
  private readonly written = new Set<string>();
  private crawlDelayMs: number | null = null;
  private length = 0;

  read(): AgentRules {
    const { rules, crawlDelayMs } = this;
    return { rules, hasTooManyRules: this.hasTooMany(), crawlDelayMs };
  }

  private hasTooMany(): boolean {
    return this.rules.size > MAX_RULES || this.length > MAX_RULES_LENGTH;
  }

  addRule(field: 'allow' | 'disallow', pattern: string): void {
    if (this.hasTooMany() || this.written.has(field + pattern)) return;
    this.written.add(field + pattern);
    const rule = `${field}: ${normalisePattern(pattern)}`;
    if (!this.rules.has(rule)) this.length += rule.length;
    this.rules.add(rule);
  }

  addCrawlDelay(ms: number | null): void {
    if (ms !== null) this.crawlDelayMs = Math.max(ms, this.crawlDelayMs ?? 0);
  }
}

interface RobotsFile {
  /** What applies to the product token. */
  group: AgentRules;
  /** The values of the `Sitemap` lines, which belong to no group. */
  sitemaps: ReadonlySet<string>;
}

export function readRobots(text: string, token: string): RobotsFile {
  const everybody = new Group();
  const ours = new Group();
  const sitemaps = new Set<string>();
  let isNamed = false;
  /** The groups that the current lines apply to. Empty before the first group, and in one that names only other agents. */
  let current = new Set<Group>();
  let inAgentList = false;
  for (const { field, value } of readLines(text)) {
    switch (field) {
      case 'user-agent':
        if (!inAgentList) current = new Set();
        inAgentList = true;
        if (namesEverybody(value)) current.add(everybody);
        if (!names(value, token)) break;
        current.add(ours);
        isNamed = true;
        break;
      case 'allow':
      case 'disallow':
        inAgentList = false;
        // "Disallow:" without a path forbids nothing.
        if (value !== '') for (const group of current) group.addRule(field, value);
        break;
      case 'crawl-delay':
        for (const group of current) group.addCrawlDelay(readDelayMs(value));
        break;
      case 'sitemap':
        if (value !== '' && sitemaps.size < MAX_SITEMAPS) sitemaps.add(value);
        break;
    }
  }
  return { group: (isNamed ? ours : everybody).read(), sitemaps };
}

/** Most patterns need no rewriting, and a file may have thousands. */
const NORMAL_PATTERN = /^[A-Za-z0-9\-._~:/?@!&()+,;=*]*\$?$/;

/** A `*` is a wildcard wherever it stands, a `$` only at the end. Everything else stands for itself. */
function normalisePattern(written: string): string {
  const path = written.startsWith('/') || written.startsWith('*') ? written : `/${written}`;
  if (NORMAL_PATTERN.test(path)) return path;
  const isAnchored = path.endsWith('$');
  const literals = (isAnchored ? path.slice(0, -1) : path).split('*');
  return literals.map(normaliseOctets).join('*') + (isAnchored ? '$' : '');
}

function namesEverybody(agent: string): boolean {
  return /^\*(\s|$)/.test(agent);
}

/** Compared up to the first character that a token cannot contain: "Amble/2.0 (archive)" means Amble. */
function names(agent: string, token: string): boolean {
  return /^[A-Za-z_-]+/.exec(agent)?.[0].toLowerCase() === token.toLowerCase();
}

/** A number too large to represent is still a long delay. The caller caps it, and needs a number for that. */
function readDelayMs(value: string): number | null {
  const seconds = /^\+?[\d.]/.test(value) ? Number(value) : 0;
  return seconds > 0 ? Math.ceil(Math.min(seconds * 1_000, Number.MAX_SAFE_INTEGER)) : null;
}

type Field = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap';

interface Line {
  field: Field;
  value: string;
}

const FIELDS = new Map<string, Field>([
  ...spellings('user-agent', 'useragent', 'user agent'),
  ...spellings('allow'),
  ...spellings('disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw'),
  ...spellings('crawl-delay', 'crawldelay', 'crawl delay'),
  ...spellings('sitemap', 'site-map'),
]);

/** The reference parser truncates lines at the same length, eight times the longest URL that browsers accept. */
export const MAX_LINE_LENGTH = 8 * 2_083;

/**
 * The lines of a robots.txt that have a meaning. Like Google's reference parser, this accepts more than RFC 9309 allows:
 * frequent misspellings of a field, a blank instead of the colon ("Disallow /private"), and any mix of line ends.
 */
function* readLines(text: string): Generator<Line> {
  for (const [raw] of text.matchAll(/[^\r\n]+/g)) {
    const line = readLine(raw.slice(0, MAX_LINE_LENGTH));
    if (line !== null) yield line;
  }
}

function readLine(raw: string): Line | null {
  const comment = raw.indexOf('#');
  const line = (comment < 0 ? raw : raw.slice(0, comment)).trim();
  const colon = line.indexOf(':');
  if (colon >= 0) return toLine(line.slice(0, colon), line.slice(colon + 1));
  // More than two words are prose, not a rule.
  const [, name, value] = /^(\S+)\s+(\S+)$/.exec(line) ?? [];
  return name !== undefined && value !== undefined ? toLine(name, value) : null;
}

function toLine(name: string, value: string): Line | null {
  const field = FIELDS.get(name.trim().toLowerCase());
  return field === undefined ? null : { field, value: value.trim() };
}

function spellings(field: Field, ...others: string[]): [string, Field][] {
  return [field, ...others].map((spelling) => [spelling, field]);
}
