import { expect, test } from 'vitest';
import { contactAdvice } from '../../src/cli/commands/crawl.ts';
import { isAnonymous } from '../../src/cli/commands/server.ts';
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

test('the page for owners of sites is no contact to itself', () => {
  const isAnonymousWith = (flags: Record<string, unknown>) =>
    isAnonymous(loadConfig({ env: {}, cwd: import.meta.dirname, flags }));
  const publicUrl = 'https://crawler.example';
  expect(isAnonymousWith({})).toBe(true);
  expect(isAnonymousWith({ publicUrl })).toBe(true);
  expect(isAnonymousWith({ publicUrl, contact: 'https://example.org/us' })).toBe(false);
  expect(isAnonymousWith({ publicUrl, from: 'crawl@example.org' })).toBe(false);
});
