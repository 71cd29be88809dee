/** What a robots.txt allows (RFC 9309). The only file that knows which parser does the work. */
import { createRequire } from 'node:module';
import type RobotsParser from 'robots-parser';

// Its types promise a default export; the CommonJS module is the function itself.
const robotsParser: typeof RobotsParser.default = createRequire(import.meta.url)('robots-parser');

export interface RobotsRules {
  /** `url` must be of the origin whose rules these are. */
  isAllowed(url: string, token: string): boolean;
  /** null: none is asked for. */
  crawlDelayMs(token: string): number | null;
}

export function robotsUrl(origin: string): string {
  return `${origin}/robots.txt`;
}

export function parseRobots(text: string, origin: string): RobotsRules {
  const robots = robotsParser(robotsUrl(origin), text);
  return {
    isAllowed(url, token) {
      if (new URL(url).pathname === '/robots.txt') return true;
      const allowed = robots.isAllowed(url, token);
      if (allowed === undefined) throw new Error(`The robots.txt of ${origin} does not speak for ${url}.`);
      return allowed;
    },
    crawlDelayMs(token) {
      const seconds = robots.getCrawlDelay(token);
      return seconds !== undefined && Number.isFinite(seconds) && seconds > 0
        ? Math.ceil(seconds * 1_000)
        : null;
    },
  };
}
