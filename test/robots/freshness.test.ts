import { expect, test } from 'vitest';
import { freshnessMs } from '../../src/robots/index.ts';

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const BOUNDS = { minMs: HOUR_MS, maxMs: 24 * HOUR_MS };

test.each([
  [undefined, 24 * HOUR_MS],
  ['', 24 * HOUR_MS],
  ['public', 24 * HOUR_MS],
  ['max-age=7200', 2 * HOUR_MS],
  ['public, Max-Age="7200", immutable', 2 * HOUR_MS],
  ['max-age=60', HOUR_MS],
  ['max-age=0', HOUR_MS],
  ['max-age=31536000', 24 * HOUR_MS],
  ['max-age=99999999999999999999999', 24 * HOUR_MS],
  ['max-age=-1', 24 * HOUR_MS],
  ['max-age=soon', 24 * HOUR_MS],
  ['s-maxage=7200', 24 * HOUR_MS],
  ['no-cache', HOUR_MS],
  ['max-age=7200, no-store', HOUR_MS],
])('Cache-Control %j keeps a robots.txt for %i ms', (header, expected) => {
  expect(freshnessMs(header, BOUNDS)).toBe(expected);
});
