import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UrlType } from '../../src/core/settings.ts';
import { matchesPattern } from '../../src/urls/index.ts';
import { classifyUrl } from '../../src/urls/pattern.ts';

describe('a pattern', () => {
  test.each([
    ['/docs/*', 'http://example.org/docs/a/b?c', true],
    ['/docs/*', 'http://example.org/x/docs/', false],
    ['/docs/', 'http://example.org/docs/a', false],
    ['*.pdf', 'http://example.org/a.pdf', true],
    ['*.pdf', 'http://example.org/a.pdf?x', false],
    ['*?print=*', 'http://example.org/a?print=1', true],
    ['https://*.example.org/*', 'https://www.example.org/x', true],
    ['https://*.example.org/*', 'http://www.example.org/x', false],
    ['/*/*/print', 'http://example.org/a/b/c/print', true],
    ['*', 'http://example.org/', true],
    ['/search*', 'https://shop.example/search?q=lamp', true],
    ['/search*', 'https://shop.example/research', false],
    ['/search', 'https://shop.example/search?q=lamp', false],
    ['/search', 'https://shop.example/search', true],
    ['/', 'https://shop.example/', true],
    ['*/search*', 'https://shop.example/de/search', true],
    ['*?page=*', 'https://shop.example/list?page=2', true],
    ['*?page=*', 'https://shop.example/list?sort=1&page=2', false],
    ['https://shop.example/p/*', 'https://shop.example/p/1', true],
    ['https://shop.example/p/*', 'https://other.example/p/1', false],
    ['*://*.example/p/*.html', 'http://a.example/p/1/2.html', true],
    ['/*a*a', 'http://a.test/a', false],
    ['/*a*a', 'http://a.test/aa', true],
    ['/Search*', 'https://shop.example/search', false],
    // Every other character stands for itself.
    ['/a.c', 'http://a.test/abc', false],
    ['/(a+)+$', 'http://a.test/aaa', false],
  ])('%s matches %s: %j', (pattern, url, expected) => {
    expect(matchesPattern(pattern, url)).toBe(expected);
  });

  test('matches like the equivalent regular expression', () => {
    const pattern = fc.string({ unit: fc.constantFrom('*', 'a', 'b', '/', '.'), maxLength: 8 });
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 12 });
    fc.assert(
      fc.property(pattern, path, (rest, text) => {
        const source = `/${rest}`.split('*').map((piece) => piece.replaceAll('.', '\\.'));
        expect(matchesPattern(`/${rest}`, `http://h/${text}`)).toBe(
          new RegExp(`^${source.join('.*')}$`).test(`/${text}`),
        );
      }),
      { numRuns: 2_000 },
    );
  });

  test('with many stars is matched without backtracking', () => {
    const url = `http://h/${'a'.repeat(1_900)}`;
    expect(matchesPattern(`/${'*a'.repeat(100)}*b`, url)).toBe(false);
    // A backtracking regular expression would never finish.
    expect(matchesPattern(`/${'*a'.repeat(200)}b`, url)).toBe(false);
  });
});

describe('the type of a page', () => {
  const types: UrlType[] = [
    { name: 'search', pattern: '/search*', priority: 1, keyword: null },
    { name: 'lamp', pattern: '*lamp*', priority: 2, keyword: 'lamps' },
  ];

  test('is that of the first matching pattern', () => {
    expect(classifyUrl(types, 'http://a.test/search?q=lamp', null)).toEqual({
      type: 'search',
      priority: 1,
      keyword: null,
    });
  });

  test('sets the keyword, unless the page already carries one', () => {
    expect(classifyUrl(types, 'http://a.test/lamp', null).keyword).toBe('lamps');
    expect(classifyUrl(types, 'http://a.test/lamp', 'chair').keyword).toBe('chair');
  });

  test('is null if no pattern matches, with the default priority and the carried keyword', () => {
    expect(classifyUrl(types, 'http://a.test/', 'chair')).toEqual({
      type: null,
      priority: 5,
      keyword: 'chair',
    });
  });
});
