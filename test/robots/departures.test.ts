/**
 * Where robots-parser 3.0.1 departs from RFC 9309, and what our normaliser is for: on its own robots-parser allows every one
 * of the requests below. The last two are mistakes that the RFC does not cover, and Google's reference parser forgives.
 */
import robotsParser from 'robots-parser';
import { describe, expect, test } from 'vitest';
import { allowed, ORIGIN } from './support.ts';

describe.each([
  [
    'a Sitemap line does not end the list of agents (2.2.4)',
    'User-agent: Amble\nSitemap: http://a.test/s\nUser-agent: B\nDisallow: /',
    '/x',
  ],
  ['an escaped letter in a rule equals the letter (2.2.2)', 'User-agent: *\nDisallow: /%62ar', '/bar'],
  ['an escaped letter in a URL equals the letter (2.2.2)', 'User-agent: *\nDisallow: /bar', '/%62ar'],
  ['an escaped * matches the character itself (2.2.3)', 'User-agent: *\nDisallow: /a%2Ab', '/a*b'],
  ['brackets are escaped in both rules and URLs', 'User-agent: *\nDisallow: /a[1]', '/a[1]'],
  ['quotes are escaped in both rules and URLs', "User-agent: *\nDisallow: /?q='", "/?q='x'"],
  ['an agent is compared up to the end of its token', 'User-agent: Amble archive\nDisallow: /', '/x'],
  ['a blank instead of a colon is accepted', 'User-agent *\nDisallow /', '/x'],
  ['a frequent misspelling is accepted', 'User-agent: *\nDisalow: /', '/x'],
])('%s', (_, text, path) => {
  test('with our normaliser', () => {
    expect(allowed(text, path)).toBe(false);
  });

  test('unlike robots-parser on its own', () => {
    expect(robotsParser(`${ORIGIN}/robots.txt`, text).isAllowed(ORIGIN + path, 'Amble')).toBe(true);
  });
});
