import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { configFor } from '../../src/cli/common-options.ts';
import { logFile, openLog } from '../../src/cli/connect/open-log.ts';
import { redactor } from '../../src/cli/terminal.ts';
import { createApiKey } from '../../src/temporal/api-key.ts';

let home: string;

beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'amble-log-'));
});
afterEach(() => {
  rmSync(home, { recursive: true });
});

function open() {
  const log = openLog({ home, logLevel: 'info', logFormat: 'json' }, 'file');
  return { log, read: () => readFileSync(logFile(home), 'utf8') };
}

test('a line of the log has no control characters, whatever a site put into it', () => {
  const { log, read } = open();
  log.info({ url: 'http://a.test/\u202e\x9b2J' }, 'an error of \x1b[2J\u2028a site');
  expect(read()).toMatch(/^[^\p{Cc}\u2028\u202e]+\n$/u);
  expect(JSON.parse(read())).toMatchObject({
    url: 'http://a.test/\u202e\x9b2J',
    msg: 'an error of \x1b[2J\u2028a site',
  });
});

test('secrets of a configuration file are not in the log', () => {
  const config = join(home, 'amble.config.json');
  writeFileSync(
    config,
    JSON.stringify({
      serverToken: 'server-token-of-a-file',
      temporalAddress: 'temporal.example:7233',
      temporalApiKeyFile: join(home, 'key'),
      databaseUrl: 'postgresql://amble:password-of-a-file@db.example/amble',
    }),
  );
  writeFileSync(join(home, 'key'), 'api-key-of-a-file');
  configFor({ home, config });
  const { log, read } = open();
  log.info('server-token-of-a-file api-key-of-a-file password-of-a-file');
  expect(JSON.parse(read()).msg).toBe('[redacted] [redacted] [redacted]');
});

test('an API key that replaces another is not in the log either, and neither is the old one', () => {
  let key = 'first-key-of-temporal';
  redactor.addRotating(createApiKey(key, () => key, { intervalMs: 0 }));
  const { log, read } = open();
  log.info('with first-key-of-temporal');
  key = 'second-key-of-temporal';
  log.info('with first-key-of-temporal and second-key-of-temporal');
  const lines = read().trimEnd().split('\n');
  expect(lines.map((line) => JSON.parse(line).msg)).toEqual([
    'with [redacted]',
    'with [redacted] and [redacted]',
  ]);
});
