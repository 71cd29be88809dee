import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest';
import { identityHeaders, parseRetryAfter, productToken } from '../../src/http/index.ts';

const NOW = Date.parse('2026-03-01T12:00:00Z');

describe('Retry-After', () => {
  // Not UTC: a date without a zone must not be read in the machine's own.
  beforeAll(() => void vi.stubEnv('TZ', 'America/New_York'));
  afterAll(() => void vi.unstubAllEnvs());

  test.each([
    ['120', 120_000],
    [' 0 ', 0],
    ['1.5', 1_500],
    ['Sun, 01 Mar 2026 12:01:00 GMT', 60_000],
    ['Sunday, 01-Mar-26 12:01:00 GMT', 60_000],
    ['Sun Mar  1 12:01:00 2026', 60_000],
    ['Sun, 01 Mar 2026 12:01:00', 60_000],
    ['Sun, 01 Mar 2026 13:01:00 +0100', 60_000],
    ['120, 120', 120_000],
    ['60, 120, soon', 120_000],
    ['30, Sun, 01 Mar 2026 12:01:00 GMT, Sun Mar  1 12:02:00 2026', 120_000],
    ['9'.repeat(309), Number.MAX_SAFE_INTEGER],
    ['Sat, 28 Feb 2026 12:00:00 GMT', 0],
    ['-5', null],
    ['soon', null],
    ['12 monkeys', null],
    ['Sun, 99 Nothing', null],
    ['', null],
    [undefined, null],
  ])('%j is %j ms from now', (header, ms) => {
    expect(parseRetryAfter(header, NOW)).toBe(ms);
  });
});

test.each([
  ['Amble/0.1 (+https://example.org/bot)', 'Amble'],
  ['MyBot', 'MyBot'],
  ['123', 'Amble'],
])('the product token of %s is %s', (header, token) => {
  expect(productToken(header)).toBe(token);
});

test('every request identifies the crawler, with an email address if there is one', () => {
  const userAgent = 'Amble/1.0 (+https://example.org/bot)';
  expect(identityHeaders({ userAgent, from: null })).toEqual({ 'user-agent': userAgent });
  expect(identityHeaders({ userAgent, from: 'crawl@example.org' })).toEqual({
    'user-agent': userAgent,
    from: 'crawl@example.org',
  });
});
