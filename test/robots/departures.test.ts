/**
 * Why the rules are read by code of our own: robots-parser 3.0.1, with which Amble began, allowed every one of the
 * requests below. All but the last three are against RFC 9309; those are mistakes that Google's reference parser forgives.
 */
import { expect, test } from 'vitest';
import { allowed } from './support.ts';

test.each([
  [
    'a Sitemap line ended the list of agents (2.2.4)',
    'User-agent: Amble\nSitemap: http://a.test/s\nUser-agent: B\nDisallow: /',
    '/x',
  ],
  ['an escaped letter of a rule was not the letter (2.2.2)', 'User-agent: *\nDisallow: /%62ar', '/bar'],
  ['an escaped letter of a URL was not the letter (2.2.2)', 'User-agent: *\nDisallow: /bar', '/%62ar'],
  ['an escaped * did not match the sign itself (2.2.3)', 'User-agent: *\nDisallow: /a%2Ab', '/a*b'],
  ['brackets were escaped in rules and not in URLs', 'User-agent: *\nDisallow: /a[1]', '/a[1]'],
  ['quotes were escaped in URLs and not in rules', "User-agent: *\nDisallow: /?q='", "/?q='x'"],
  ['an agent was compared beyond the end of its token', 'User-agent: Amble archive\nDisallow: /', '/x'],
  ['a blank instead of a colon made a line void', 'User-agent *\nDisallow /', '/x'],
  ['so did a misspelling', 'User-agent: *\nDisalow: /', '/x'],
])('%s', (_, text, path) => {
  expect(allowed(text, path)).toBe(false);
});

test('matching took path times pattern, ten seconds for this file and URL', () => {
  expect(allowed(`User-agent: *\nDisallow: /${'*a'.repeat(8_000)}b`, `/${'a'.repeat(60_000)}`)).toBe(true);
});
