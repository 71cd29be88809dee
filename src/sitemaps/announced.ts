/** Lists the sitemaps of an origin. */
import { parseRobots } from '../robots/index.ts';

/** Those in the `Sitemap:` lines of robots.txt, which apply to all crawlers and may name any host, and /sitemap.xml. */
export function announcedSitemaps(robots: string | null, origin: string): string[] {
  const { sitemaps } = parseRobots(robots ?? '', { origin, token: '*' });
  return [...new Set([...sitemaps, `${origin}/sitemap.xml`])];
}
