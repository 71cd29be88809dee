/**
 * The lines of a robots.txt that have a meaning. Like Google's reference parser, this accepts more than RFC 9309 allows:
 * frequent misspellings of a field, a blank instead of the colon ("Disallow /private"), and any mix of line ends.
 */

export type Field = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap';

export interface Line {
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

export function* readLines(text: string): Generator<Line> {
  // "\r\n" becomes two line ends. The empty line between them has no meaning.
  for (const raw of text.replaceAll('\r', '\n').split('\n')) {
    const line = raw === '' ? null : readLine(raw.slice(0, MAX_LINE_LENGTH));
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
