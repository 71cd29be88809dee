/** What a page says to robots about itself, in <meta name="robots"> or in X-Robots-Tag: one language, read here for both. */

import type { RobotsDirectives } from '../core/attempt.ts';

/** Directives with a value. What else stands before a colon is the name of a robot. */
const VALUED = new Set(['unavailable_after', 'max-snippet', 'max-image-preview', 'max-video-preview']);

/** Names that mean every robot. */
const EVERYBODY = new Set(['*', 'robots']);

const NAMED = /^([a-z*][\w*.-]*)\s*:(.*)$/s;

/**
 * `texts`: the content of each <meta>, or each header line. A robot's name holds for what follows it on its line; with no
 * name before it, a directive is for everybody. What is said to everybody and what is said to `token` adds up.
 */
export function readDirectives(texts: readonly string[], token: string): RobotsDirectives {
  const words = new Set(texts.flatMap((text) => wordsFor(text.toLowerCase(), token.toLowerCase())));
  const none = words.has('none');
  return { noindex: none || words.has('noindex'), nofollow: none || words.has('nofollow') };
}

function wordsFor(text: string, token: string): string[] {
  const words: string[] = [];
  let forUs = true;
  for (const part of text.split(',')) {
    const named = NAMED.exec(part.trim());
    const [, name = '', rest = ''] = named ?? [];
    if (VALUED.has(name)) continue;
    if (named !== null) forUs = name === token || EVERYBODY.has(name);
    if (forUs) words.push(...(named === null ? part : rest).trim().split(/\s+/));
  }
  return words;
}
