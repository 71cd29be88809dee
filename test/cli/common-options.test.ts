import { afterEach, expect, test, vi } from 'vitest';
import { formatCommand } from '../../src/cli/common-options.ts';

afterEach(() => {
  vi.unstubAllEnvs();
});

test.each([
  [undefined, 'amble status'],
  ['npx', 'npx amble status'],
  ['crawl', 'npm run amble -- status'],
])('a suggested command works for a user who started Amble with npm script %s', (script, command) => {
  vi.stubEnv('npm_lifecycle_event', script);
  expect(formatCommand(['status'], {})).toBe(command);
});

test('a suggested command leads to the same home and settings, quoted for a shell', () => {
  vi.stubEnv('npm_lifecycle_event', undefined);
  const options = { home: "it's here", config: 'amble.json' };
  expect(formatCommand(['cancel', 'example'], options)).toBe(
    `amble cancel example --home 'it'\\''s here' --config amble.json`,
  );
});
