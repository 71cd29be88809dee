/** Finds the sitemaps of an origin, and guesses whether a response or URL is one before its content is read. */
import { parseRobots } from '../robots/index.ts';
import { hostnameOf } from '../urls/index.ts';

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

/**
 * Other hosts that the `Sitemap:` lines of one robots.txt may name. Sites keep their sitemaps on a content host or two; a thousand
 * lines would let one site send the crawler to a thousand others.
 */
const MAX_OTHER_HOSTS = 10;

/**
 * Those in the `Sitemap:` lines of robots.txt, which apply to all crawlers and may name other hosts, and /sitemap.xml. `skipped`: how
 * many are on too many other hosts.
 */
export function announcedSitemaps(
  robots: string | null,
  origin: string,
): { urls: string[]; skipped: number } {
  const { sitemaps } = parseRobots(robots ?? '', { origin, token: '*' });
  const own = hostnameOf(origin);
  const others = [...new Set(sitemaps.map(hostnameOf).filter((host) => host !== own))];
  const hosts = new Set([own, ...others.slice(0, MAX_OTHER_HOSTS)]);
  const named = sitemaps.filter((url) => hosts.has(hostnameOf(url)));
  return {
    urls: [...new Set([...named, `${origin}/sitemap.xml`])],
    skipped: sitemaps.length - named.length,
  };
}
