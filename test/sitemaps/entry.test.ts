import { expect, test } from 'vitest';
import { parseLastmod } from '../../src/sitemaps/entry.ts';

test.each([
  ['2024', '2024-01-01T00:00:00.000Z'],
  ['2024-05', '2024-05-01T00:00:00.000Z'],
  [' 2024-05-01\n', '2024-05-01T00:00:00.000Z'],
  ['2024-05-01T10:20Z', '2024-05-01T10:20:00.000Z'],
  ['2024-05-01T10:20:30.123456+02:00', '2024-05-01T08:20:30.123Z'],
  ['2024-05-01T10:20:30+0200', '2024-05-01T08:20:30.000Z'],
  ['2024-05-01T10:20:30', '2024-05-01T10:20:30.000Z'],
  ['Wed, 01 May 2024 10:20:30 GMT', '2024-05-01T10:20:30.000Z'],
  ['1 May 2024 10:20 -0500', '2024-05-01T15:20:00.000Z'],
])('%s is parsed as %s', (raw, expected) => {
  expect(parseLastmod(raw)?.toISOString()).toBe(expected);
});

test.each([
  null,
  '',
  'yesterday',
  '05/01/2024',
  '2024-13-01',
  '2024-05-01T25:00:00Z',
  '0000-00-00',
  '1970-01-01',
  '12024-01-01',
])('%s is not accepted as the date of a page', (raw) => {
  expect(parseLastmod(raw)).toBeNull();
});
