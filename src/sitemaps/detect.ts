/** What may be a sitemap, before its bytes show whether it is one. */

/** Text of any kind, HTML included: it is what scripts send that set no type. No type at all, too. */
const TYPES = /^(|text\/.+|.+\/xml|.+\+xml|application\/(x-)?gzip|(application|binary)\/octet-stream)$/;

export function mayBeSitemap(contentType: string | undefined): boolean {
  return TYPES.test((contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '');
}

/** Sites without a sitemap like to redirect to a page, which must not be taken out of the crawl as a sitemap that failed. */
export function looksLikeSitemap(url: string): boolean {
  const { pathname, search } = new URL(url);
  return /sitemap|feed/i.test(pathname + search) || /\.(xml|gz|txt|rss|atom)$/i.test(pathname);
}
