/** The entries of a sitemap, and the interface of its readers. */

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
