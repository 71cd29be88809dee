import { describe, expect, test } from 'vitest';
import type { UrlType } from '../../src/core/settings.ts';
import { classifyUrl } from '../../src/urls/url-types.ts';

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
