/** What a sitemap lists. */

export interface SitemapEntry {
  /** A page to crawl, or a further sitemap that an index points to. */
  kind: 'page' | 'sitemap';
  /** Absolute and normalised. */
  url: string;
  /** When it last changed, as the sitemap says; null: it does not, or not in a way that can be read. */
  lastmod: Date | null;
}

/** As it stands in the file. */
export interface RawEntry {
  kind: SitemapEntry['kind'];
  loc: string;
  lastmod: string | null;
}

export type SitemapFormat = 'urlset' | 'index' | 'feed' | 'text';

/** Reads one format, piece by piece, and says what it has found so far. */
export interface FormatReader {
  /** null while that is not known; the reader then wants more. */
  readonly format: SitemapFormat | null;
  /** Nothing more will come of this file. */
  readonly over: boolean;
  write(text: string): RawEntry[];
  /** The end of the file, which is the end of its last line too. Not called for a file that was cut. */
  end(): RawEntry[];
}
