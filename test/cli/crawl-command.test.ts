import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { contactAdvice, crawlCommand } from '../../src/cli/commands/crawl.ts';
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
