import { expect, test } from 'vitest';
import { contactAdvice } from '../../src/cli/commands/crawl.ts';
import { loadConfig } from '../../src/config/index.ts';

const adviceFor = (flags: Record<string, unknown>) =>
  contactAdvice(loadConfig({ env: {}, cwd: import.meta.dirname, flags }));

test('an anonymous crawl gets advice on how to identify itself', () => {
  expect(adviceFor({})).toMatch(/"contact" \(AMBLE_CONTACT\)/);
  expect(adviceFor({ userAgent: 'Somebot/1.0' })).not.toBeNull();
});

test.each([
  { contact: 'https://example.org/bot' },
  { from: 'crawl@example.org' },
  { userAgent: 'Somebot/1.0 (+https://example.org/bot)' },
  { allowNetwork: ['127.0.0.0/8'] },
])('no advice is given with %o', (flags) => {
  expect(adviceFor(flags)).toBeNull();
});
