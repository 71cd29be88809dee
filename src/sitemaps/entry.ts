/** The entries of a sitemap with their dates, and the interface of its readers. */

export interface SitemapEntry {
  /** A page to crawl, or a sitemap that an index lists. */
  kind: 'page' | 'sitemap';
  /** Absolute and normalised. */
  url: string;
  /** Null if missing or unreadable. */
  lastmod: Date | null;
}

/** As written in the file. */
export interface RawEntry {
  kind: SitemapEntry['kind'];
  loc: string;
  lastmod: string | null;
}

export type SitemapFormat = 'urlset' | 'index' | 'feed' | 'text';

/** Reads one format chunk by chunk and returns the entries found. */
export interface FormatReader {
  /** Null until it is known. */
  readonly format: SitemapFormat | null;
  /** Whether nothing more can be found in this file. */
  readonly done: boolean;
  write(text: string): RawEntry[];
  /** Called at the end of the file, which also ends its last line. Not called for a truncated file. */
  end(): RawEntry[];
}

/** W3C Datetime, as in sitemaps: a date, down to a bare year, alone or with a time. */
const W3C = /^(\d{4})(-\d\d(-\d\d(T\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?)?)?)?$/i;

/** As in RSS feeds, such as "Mon, 16 Nov 2026 05:05:01 GMT". The pattern keeps Date.parse from guessing. */
const RFC_822 = /^([a-z]{3},? )?\d{1,2} [a-z]{3} \d{4} \d\d:\d\d(:\d\d)? ([a-z]{1,3}|[+-]\d{4})$/i;

/** Nothing on the web is older. Most such dates are a formatted zero. */
const EARLIEST = Date.UTC(1990, 0, 1);

/** Returns null if it is not a date, or one that no page can have. */
export function parseLastmod(raw: string | null): Date | null {
  const text = raw?.trim() ?? '';
  if (!W3C.test(text) && !RFC_822.test(text)) return null;
  const date = new Date(withZone(text));
  return date.getTime() >= EARLIEST ? date : null;
}

/** Date would read a time without a zone as local time, and reject "+0100". */
function withZone(text: string): string {
  if (!/T/.test(text) || RFC_822.test(text)) return text;
  if (/(Z|[+-]\d\d:\d\d)$/i.test(text)) return text;
  return /[+-]\d{4}$/.test(text) ? `${text.slice(0, -2)}:${text.slice(-2)}` : `${text}Z`;
}
