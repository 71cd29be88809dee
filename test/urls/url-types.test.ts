import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UrlType } from '../../src/core/settings.ts';
import { matchesPattern } from '../../src/urls/index.ts';
import { classifyUrl } from '../../src/urls/url-types.ts';

describe('a pattern', () => {
  test.each([
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
    ['*', 'https://shop.example/', true],
    // Everything but the star is taken at its word.
    ['/a.c', 'http://a.test/abc', false],
    ['/(a+)+$', 'http://a.test/aaa', false],
  ])('%s compared with %s: %s', (pattern, url, expected) => {
    expect(matchesPattern(pattern, url)).toBe(expected);
  });

  test('agrees with the regular expression it stands for', () => {
    const pattern = fc.string({ unit: fc.constantFrom('*', 'a', 'b', '/', '.'), maxLength: 8 });
    const path = fc.string({ unit: fc.constantFrom('a', 'b', '/', '.'), maxLength: 10 });
    fc.assert(
      fc.property(pattern, path, (rest, text) => {
        const source = `/${rest}`.split('*').map((piece) => piece.replaceAll('.', '\\.'));
        expect(matchesPattern(`/${rest}`, `http://h/${text}`)).toBe(
          new RegExp(`^${source.join('.*')}$`).test(`/${text}`),
        );
      }),
    );
  });

  test('made to explode does not', () => {
    const began = performance.now();
    expect(matchesPattern(`/${'*a'.repeat(200)}b`, `http://h/${'a'.repeat(1_900)}`)).toBe(false);
    // As a backtracking expression it would take longer than the universe has.
    expect(performance.now() - began).toBeLessThan(1_000);
  });
});

describe('the kind of a page', () => {
  const types: UrlType[] = [
    { name: 'search', pattern: '/search*', priority: 1, keyword: null },
    { name: 'lamp', pattern: '*lamp*', priority: 2, keyword: 'lamps' },
  ];

  test('is that of the first pattern that fits', () => {
    expect(classifyUrl(types, 'http://a.test/search?q=lamp', null)).toEqual({
      type: 'search',
      priority: 1,
      keyword: null,
    });
  });

  test('brings its keyword, unless the page carries one already', () => {
    expect(classifyUrl(types, 'http://a.test/lamp', null).keyword).toBe('lamps');
    expect(classifyUrl(types, 'http://a.test/lamp', 'chair').keyword).toBe('chair');
  });

  test('is none where no pattern matchesPattern: usual priority, carried keyword', () => {
    expect(classifyUrl(types, 'http://a.test/', 'chair')).toEqual({
      type: null,
      priority: 5,
      keyword: 'chair',
    });
  });
});
