/** Finds the sitemaps of an origin, and guesses whether a response or URL is one before its content is read. */
import { parseRobots } from '../robots/index.ts';

/** Includes HTML, which scripts send by default, and no type at all. */
const TYPES = /^(|text\/.+|.+\/xml|.+\+xml|application\/(x-)?gzip|(application|binary)\/octet-stream)$/;

export function mayBeSitemap(contentType: string | undefined): boolean {
  return TYPES.test((contentType ?? '').split(';', 1)[0]?.trim().toLowerCase() ?? '');
}

/** Sites without a sitemap often redirect to a page, which must not be dropped from the crawl as a failed sitemap. */
export function looksLikeSitemap(url: string): boolean {
  const { pathname, search } = new URL(url);
  return /sitemap|feed/i.test(pathname + search) || /\.(xml|gz|txt|rss|atom)$/i.test(pathname);
}

/** Those in the `Sitemap:` lines of robots.txt, which apply to all crawlers and may name any host, and /sitemap.xml. */
export function announcedSitemaps(robots: string | null, origin: string): string[] {
  const { sitemaps } = parseRobots(robots ?? '', { origin, token: '*' });
  return [...new Set([...sitemaps, `${origin}/sitemap.xml`])];
}
