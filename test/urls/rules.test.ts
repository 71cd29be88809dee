import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { UrlRules } from '../../src/core/settings.ts';
import { NO_RULES, normaliseRedirect, normaliseUrl } from '../../src/urls/index.ts';

const ALL: UrlRules = {
  ...NO_RULES,
  decodeUnreserved: true,
  sortQuery: true,
  stripTracking: true,
  stripSessionIds: true,
};

function ruled(path: string, rules: Partial<UrlRules>): string {
  const result = normaliseUrl(`http://example.org${path}`, undefined, { ...NO_RULES, ...rules });
  return result.ok ? result.url.slice('http://example.org'.length) : result.reason;
}

describe('each rule, alone', () => {
  test.each<[Partial<UrlRules>, string, string]>([
    [{ decodeUnreserved: true }, '/%7Eann/%41%2d?%5f=%2F%20', '/~ann/A-?_=%2F%20'],
    [{ decodeUnreserved: true }, '/%%37%45', '/%%37%45'],
    [{ decodeUnreserved: true }, '/%257E', '/%257E'],
    [{ sortQuery: true }, '/?b=2&a=1&b=1', '/?a=1&b=2&b=1'],
    [{ sortQuery: true }, '/?b&&a=%20+', '/?a=%20+&b'],
    [{ sortQuery: true }, '/?', '/'],
    [{ stripTracking: true }, '/?utm_source=x&id=7&FBCLID=y&%75tm_term', '/?id=7'],
    [{ stripTracking: true }, '/?gclid=1', '/'],
    [{ stripTracking: true }, '/?ref=a&source=b&b=2&a=1', '/?ref=a&source=b&b=2&a=1'],
    [{ stripSessionIds: true }, '/shop;jsessionid=1A2B/x;v=1?PHPSESSID=3', '/shop/x;v=1'],
    [{ stripSessionIds: true }, '/(S(lit3py55t21z5v55vlm25s55))/page.aspx', '/page.aspx'],
    [{ stripSessionIds: true }, '/?sid=7', '/?sid=7'],
    [{ stripSessionIds: true }, '/?sid=0cc175b9c0f1b6a831c399e269772661&p=1', '/?p=1'],
    [{ stripSessionIds: true }, '/a/b/..;jsessionid=1/c', '/a/c'],
    [{ stripParameters: ['ref'] }, '/?Ref=a&x=1', '/?x=1'],
    [{ maxLength: 28 }, '/0123456789', 'it is longer than 28 characters'],
  ])('%j: %s is %s', (rule, path, expected) => {
    expect(ruled(path, rule)).toBe(expected);
  });

  test('has no effect when it is off', () => {
    const path = '/%7Ea;jsessionid=1?b=2&utm_source=x&a=1&phpsessid=2';
    expect(ruled(path, {})).toBe(path);
  });
});

test('a host that looks like a session id is kept', () => {
  expect(normaliseUrl('http://;jsessionid=/x', undefined, ALL)).toMatchObject({
    url: 'http://;jsessionid=/x',
  });
});

describe('a redirect', () => {
  const from = 'http://example.org/shop';

  test('is normalised by the rules', () => {
    expect(normaliseRedirect('/new?utm_source=mail', from, ALL)).toEqual({
      ok: true,
      url: 'http://example.org/new',
    });
  });

  test('that adds what a rule removes is followed exactly, instead of becoming a loop', () => {
    expect(normaliseRedirect('/shop?PHPSESSID=1', from, ALL)).toEqual({
      ok: true,
      url: 'http://example.org/shop?PHPSESSID=1',
    });
  });

  test('to itself stays a redirect to itself', () => {
    expect(normaliseRedirect('/shop#top', from, ALL)).toEqual({ ok: true, url: from });
  });
});

describe('with any choice of rules', () => {
  const rules = fc.record({
    maxLength: fc.constant(2_000),
    decodeUnreserved: fc.boolean(),
    sortQuery: fc.boolean(),
    stripTracking: fc.boolean(),
    stripSessionIds: fc.boolean(),
    stripParameters: fc.subarray(['ref', 'a']),
  });
  const name = fc.constantFrom(
    'a',
    'A',
    'b',
    'ref',
    'utm_x',
    'gclid',
    'sid',
    'PHPSESSID',
    '%75tm_y',
    '%61',
    '',
    'ä',
  );
  const value = fc.constantFrom('', '1', 'x%2fy', '%7e', '0cc175b9c0f1b6a831c399e269772661', '+', '%', '=');
  const parameter = fc.tuple(name, value).map(([key, text]) => `${key}=${text}`);
  const segment = fc.constantFrom(
    'a',
    '..',
    '.',
    '',
    '%2e%2e',
    ';jsessionid=1',
    '..;jsessionid=2',
    '%2E;jsessionid=3',
    '(S(lit3py55t21z5v55vlm25s55))',
    '(S(lit3py55t21z5v55vlm25s55));jsessionid=4',
    '%%37%45',
    '%',
    'b;v=1;jsessionid=x',
  );
  const url = fc
    .tuple(
      fc.array(segment, { maxLength: 6 }),
      fc.array(fc.oneof(parameter, fc.constant('')), { maxLength: 6 }),
    )
    .map(([path, query]) => `http://example.org/${path.join('/')}?${query.join('&')}`);

  test('normalising is idempotent', () => {
    fc.assert(
      fc.property(url, rules, (raw, chosen) => {
        const once = normaliseUrl(raw, undefined, chosen);
        fc.pre(once.ok);
        expect(normaliseUrl(once.url, undefined, chosen)).toEqual(once);
      }),
      { numRuns: 5_000 },
    );
  });

  test('rules can be applied in any order', () => {
    const single = (Object.keys(ALL) as (keyof UrlRules)[]).filter((key) => ALL[key] === true);
    fc.assert(
      fc.property(url, fc.shuffledSubarray(single, { minLength: single.length }), (raw, order) => {
        const together = normaliseUrl(raw, undefined, ALL);
        fc.pre(together.ok);
        let url = raw;
        for (const key of order) {
          const step = normaliseUrl(url, undefined, { ...NO_RULES, [key]: true });
          if (step.ok) url = step.url;
        }
        expect(url).toBe(together.url);
      }),
      { numRuns: 2_000 },
    );
  });

  test('sorting makes the order of parameters irrelevant, except among those of one name', () => {
    fc.assert(
      fc.property(
        fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'utm_x', 'sid'), { minLength: 2 }),
        value,
        fc.infiniteStream(fc.nat()),
        (names, text, random) => {
          const parameters = names.map((key) => `${key}=${text}`);
          const shuffled = [...parameters].sort(() => (random.next().value % 2 === 0 ? 1 : -1));
          expect(ruled(`/?${shuffled.join('&')}`, ALL)).toBe(ruled(`/?${parameters.join('&')}`, ALL));
        },
      ),
    );
  });

  test('only parameters that a rule names are removed', () => {
    fc.assert(
      fc.property(fc.array(fc.constantFrom('x=1', 'y', 'z=%20', 'x=2', 'page=3')), rules, (query, chosen) => {
        const kept = ruled(`/?${query.join('&')}`, chosen).split('?')[1] ?? '';
        expect(kept.split('&').filter(Boolean).sort()).toEqual([...query].sort());
      }),
    );
  });
});
