/** What a page asks of robots, in <meta name="robots"> or in X-Robots-Tag. Both have the same syntax. */

import type { RobotsDirectives } from '../core/attempt.ts';

/** Directives with a value. Anything else before a colon is the name of a robot. */
const VALUED = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

/** Names that address every robot. */
const EVERYBODY = new Set(['*', 'robots']);

const NAMED = /^([a-z*][\w*.-]*)\s*:(.*)$/s;

/**
 * `texts`: the content of each <meta>, or each header line. A robot's name applies to what follows it on its line. A directive
 * without a name before it applies to every robot. Directives for every robot and those for `token` add up.
 */
export function readDirectives(texts: readonly string[], token: string): RobotsDirectives {
  const found = { noindex: false, nofollow: false };
  for (const text of texts) addDirectives(text.toLowerCase(), token.toLowerCase(), found);
  return found;
}

/** Keeps no list of what it reads: there may be 200,000 words. */
function addDirectives(text: string, token: string, found: RobotsDirectives): void {
  let forUs = true;
  for (const part of text.split(',')) {
    const named = NAMED.exec(part.trim());
    const [, name = '', rest = ''] = named ?? [];
    if (VALUED.has(name)) continue;
    if (named !== null) forUs = name === token || EVERYBODY.has(name);
    if (!forUs) continue;
    for (const directive of (named === null ? part : rest).split(/\s+/)) {
      if (directive === 'noindex' || directive === 'none') found.noindex = true;
      if (directive === 'nofollow' || directive === 'none') found.nofollow = true;
    }
  }
}
