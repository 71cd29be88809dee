/** Which sitemaps an origin has, as far as its robots.txt tells. */
import { parseRobots } from '../robots/index.ts';

/** Sitemaps of one origin; whoever has more lists them in an index. */
const MOST_ANNOUNCED = 1_000;

/** The `Sitemap:` lines, which are for everybody and may name any host; without one, the usual place. */
export function announcedSitemaps(robots: string | null, origin: string): string[] {
  const { sitemaps } = parseRobots(robots ?? '', { origin, token: '*' });
  return sitemaps.length > 0 ? sitemaps.slice(0, MOST_ANNOUNCED) : [`${origin}/sitemap.xml`];
}
