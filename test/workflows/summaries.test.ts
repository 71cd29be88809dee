import { expect, test } from 'vitest';
import { readSources } from '../architecture/sources.ts';

test('every summary that is made from something is cut to what the server accepts', () => {
  // A crawl that begins at a long URL could not be started at all.
  const uncut = readSources().flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:static)?[sS]ummary: `[^`]*\$\{[^\n]*/g)].map(([line]) => `${path}: ${line}`),
  );
  expect(uncut).toEqual([]);
});
