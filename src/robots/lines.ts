/**
 * The lines of a robots.txt that mean something. Accepted beyond RFC 9309, as Google's reference parser does: frequent
 * misspellings of a field, a blank where the colon should be ("Disallow /private"), and any mix of line ends.
 */

export type Field = 'user-agent' | 'allow' | 'disallow' | 'crawl-delay' | 'sitemap';

export interface Line {
  field: Field;
  value: string;
}

const FIELDS = new Map<string, Field>([
  ...spelled('user-agent', 'useragent', 'user agent'),
  ...spelled('allow'),
  ...spelled('disallow', 'dissallow', 'dissalow', 'disalow', 'diasllow', 'disallaw'),
  ...spelled('crawl-delay', 'crawldelay', 'crawl delay'),
  ...spelled('sitemap', 'site-map'),
]);

/** Where the reference parser cuts a line too: eight times what browsers take for a URL. */
export const MAX_LINE_LENGTH = 8 * 2_083;

export function* readLines(text: string): Generator<Line> {
  for (const raw of text.split(/\r\n|\r|\n/)) {
    const line = readLine(raw.slice(0, MAX_LINE_LENGTH));
    if (line !== null) yield line;
  }
}

function readLine(raw: string): Line | null {
  const comment = raw.indexOf('#');
  const line = (comment < 0 ? raw : raw.slice(0, comment)).trim();
  const colon = line.indexOf(':');
  if (colon >= 0) return lineOf(line.slice(0, colon), line.slice(colon + 1));
  const words = line.split(/\s+/);
  const [name, value] = words;
  // Two words only: prose is no rule.
  return words.length === 2 && name !== undefined && value !== undefined ? lineOf(name, value) : null;
}

function lineOf(name: string, value: string): Line | null {
  const field = FIELDS.get(name.trim().toLowerCase());
  return field === undefined ? null : { field, value: value.trim() };
}

function spelled(field: Field, ...alsoAs: string[]): [string, Field][] {
  return [field, ...alsoAs].map((spelling) => [spelling, field]);
}
