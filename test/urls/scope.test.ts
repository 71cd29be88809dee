import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { TrapLimits } from '../../src/core/settings.ts';
import { detectTrap, quotaOf, shapeOf, skipReasonFor } from '../../src/urls/index.ts';

const UNLIMITED: TrapLimits = {
  maxPathDepth: null,
  maxRepeats: null,
  maxPerDirectory: null,
  maxPerQuery: null,
  maxPerCalendar: null,
  maxHostsPerSite: null,
  maxPortsPerHost: null,
};

describe('a link is skipped', () => {
  const rule = {
    scope: 'host',
    seedHosts: ['example.org'],
    include: [],
    exclude: [],
    traps: UNLIMITED,
  } as const;

  test.each([
    [{}, 'http://example.org/x', null],
    [{}, 'http://other.org/x', 'out of scope'],
    [{ include: ['/a/*', '/b/*'] }, 'http://example.org/b/x', null],
    [{ include: ['/a/*'] }, 'http://example.org/b/x', 'not included'],
    [{ include: ['/a/*'], exclude: ['*.pdf'] }, 'http://example.org/a/x.pdf', 'excluded'],
    [{ traps: { ...UNLIMITED, maxPathDepth: 3 } }, 'http://example.org/1/2/3/', null],
    [{ traps: { ...UNLIMITED, maxPathDepth: 3 } }, 'http://example.org/1/2/3/4', 'path too deep'],
  ])('%j %s: %j', (more, url, expected) => {
    expect(skipReasonFor(url, { ...rule, ...more })).toBe(expected);
  });
});

describe('repeated segments', () => {
  const limits = { ...UNLIMITED, maxRepeats: 2 };

  test.each([
    ['/a/a', null],
    ['/a/a/a', 'repeated segments'],
    ['/x/a/b/a/b/y', null],
    ['/x/a/b/a/b/a/b/y', 'repeated segments'],
    ['/a/b/a/c/a/d/a/e', null],
    ['/a/b/c/a/b/c/a/b/c', 'repeated segments'],
  ])('%s: %j', (path, expected) => {
    expect(detectTrap(`http://example.org${path}`, limits)).toBe(expected);
  });

  test('are detected wherever they occur', () => {
    const segments = fc.array(fc.constantFrom('a', 'b', 'c', 'd'), { minLength: 1, maxLength: 3 });
    const around = fc.array(fc.constantFrom('x', 'y', 'z'), { maxLength: 3 });
    fc.assert(
      fc.property(around, segments, around, (before, run, after) => {
        const path = [...before, ...run, ...run, ...run, ...after].join('/');
        expect(detectTrap(`http://example.org/${path}`, limits)).toBe('repeated segments');
      }),
    );
  });
});

describe('pages share a quota', () => {
  test.each([
    ['/a/b.html', 'directory', 'example.org/a/'],
    ['/a/b/', 'directory', 'example.org/a/'],
    ['/', 'directory', 'example.org'],
    ['/b', 'directory', 'example.org/'],
    ['/item?id=7', 'query', 'example.org/item?id'],
    ['/list?Page=2&colour=red&colour=blue', 'query', 'example.org/list?colour&page'],
    ['/events/2031/05', 'calendar', 'example.org/events/0/0'],
    ['/events/2031-05-12/', 'calendar', 'example.org/events/0-0-0/'],
    ['/events?month=5&year=2031', 'calendar', 'example.org/events?month&year'],
    ['/events?date=2031-05-12&view=list', 'calendar', 'example.org/events?date&view'],
    ['/blog/2031/05/a-walk', 'directory', 'example.org/blog/2031/05/'],
    ['/list?start=40', 'query', 'example.org/list?start'],
    ['/list?date=newest', 'query', 'example.org/list?date'],
  ])('%s as %s: %s', (path, kind, name) => {
    expect(shapeOf(`http://example.org${path}`)).toEqual({ kind, name });
  });

  test('if their kind is limited', () => {
    const limits = { ...UNLIMITED, maxPerQuery: 5 };
    expect(quotaOf('http://example.org/a', limits)).toBeNull();
    expect(quotaOf('http://example.org/a?b', limits)).toMatchObject({ limit: 5, reason: 'query full' });
  });
});

test('the shape of a URL with very many parameters is that of the first fifty', () => {
  const parameters = Array.from({ length: 900 }, (_, n) => `p${100 + n}=1`);
  const url = (count: number) => `http://example.org/?${parameters.slice(0, count).join('&')}`;
  expect(shapeOf(url(900))).toEqual(shapeOf(url(50)));
  expect(shapeOf(url(50))).not.toEqual(shapeOf(url(49)));
});
