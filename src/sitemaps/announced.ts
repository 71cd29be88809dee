/** Where the sitemaps of an origin are, or may be. */
import { parseRobots } from '../robots/index.ts';

/** Sitemaps that one robots.txt may name; whoever has more lists them in an index. */
const MOST_ANNOUNCED = 1_000;

/** The `Sitemap:` lines, which are for everybody and may name any host, and the usual place. */
export function announcedSitemaps(robots: string | null, origin: string): string[] {
  const { sitemaps } = parseRobots(robots ?? '', { origin, token: '*' });
  return [...new Set([...sitemaps.slice(0, MOST_ANNOUNCED), `${origin}/sitemap.xml`])];
}
