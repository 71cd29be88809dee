import { expect, test } from 'vitest';
import { readSources } from '../architecture/sources.ts';

test('every summary that is made from something is cut to what the server accepts', () => {
  // A crawl that begins at a long URL could not be started at all.
  // The API's operations have summaries too, which the server of Temporal never sees.
  const sources = readSources().filter(({ path }) => !path.startsWith('src/server/'));
  const uncut = sources.flatMap(({ path, text }) =>
    [...text.matchAll(/\b(?:static)?[sS]ummary: `[^`]*\$\{[^\n]*/g)].map(([line]) => `${path}: ${line}`),
  );
  expect(uncut).toEqual([]);
});
