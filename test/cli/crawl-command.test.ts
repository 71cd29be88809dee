import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { contactAdvice, crawlCommand } from '../../src/cli/commands/crawl.ts';
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

test('a dashboard that others could open without a token is refused before anything is started', async () => {
  vi.stubEnv('AMBLE_LISTEN', '0.0.0.0:8080');
  try {
    const options = { home: join(tmpdir(), 'amble-never-made'), allowNetwork: ['127.0.0.0/8'] };
    await expect(crawlCommand(['https://example.org/'], options)).rejects.toThrow('needs a token');
  } finally {
    vi.unstubAllEnvs();
  }
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
