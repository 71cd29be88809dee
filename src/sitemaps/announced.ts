/** Where the sitemaps of an origin are, or may be. */
import { parseRobots } from '../robots/index.ts';

/** The `Sitemap:` lines, which are for everybody and may name any host, and the usual place. */
export function announcedSitemaps(robots: string | null, origin: string): string[] {
  const { sitemaps } = parseRobots(robots ?? '', { origin, token: '*' });
  return [...new Set([...sitemaps, `${origin}/sitemap.xml`])];
}
