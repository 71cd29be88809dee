import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { PRESET_NAMES } from '../../src/config/index.ts';
import { runAmble } from './run-amble.ts';
import { runInProcess } from './run-in-process.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'amble-cli-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true });
});

const COMMANDS = [
  ...['crawl', 'status', 'page', 'domain', 'pause', 'resume', 'cancel'],
  ...['verify', 'export', 'up', 'worker', 'migrate', 'demo'],
];

describe('--help', () => {
  test('of the program lists every command and has examples', async () => {
    const { code, stdout, stderr } = await runAmble(['--help'], { cwd });
    expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
    for (const command of COMMANDS) {
      expect(stdout).toMatch(new RegExp(`^  ${command} `, 'm'));
    }
    expect(stdout).toContain('$ amble demo');
  });

  test.each([
    ...COMMANDS,
    ...['list', 'show', 'pause', 'resume', 'delay', 'reset'].map((sub) => `domain ${sub}`),
  ])('of %s shows an example', async (command) => {
    const { code, stdout } = await runInProcess([...command.split(' '), '--help'], { cwd });
    expect(code).toBe(0);
    expect(stdout).toContain(`Usage: amble ${command}`);
    expect(stdout).toMatch(new RegExp(`^ {2}\\$ .*amble ${command}`, 'm'));
  });

  test('of crawl lists its options and presets', async () => {
    const { stdout } = await runInProcess(['crawl', '--help'], { cwd });
    const options = [
      'preset',
      'keyword',
      'max-pages',
      'max-depth',
      'scope',
      'delay',
      'resolve',
      'allow-network',
      'id',
      'home',
      'detach',
      'json',
    ];
    for (const option of options) expect(stdout).toContain(`--${option}`);
    for (const preset of PRESET_NAMES) expect(stdout).toMatch(new RegExp(`^ {2}${preset} `, 'm'));
  });
});

describe('bad input is one sentence on standard error and exit code 2, before anything is started', () => {
  test.each<[string[], RegExp]>([
    [['crawl'], /Give at least one URL/],
    [['crawl', 'example.org'], /"example.org" is not a URL/],
    [['crawl', 'ftp://example.org/'], /only http and https/],
    [['crawl', 'http://a.test/', '--delay', 'soon'], /--delay is "soon"/],
    [
      ['crawl', 'http://a.test/', '--preset', 'gentle'],
      /--preset is "gentle", but must be one of smallweb, shop, news, broad/,
    ],
    [['crawl', 'http://a.test/', '--keyword', ''], /must be a keyword of 1 to 200 characters/],
    [['crawl', 'http://a.test/', '--allow-network', 'lan'], /--allow-network is "lan"/],
    [['crawl', 'http://a.test/', '--resolve', 'a.test'], /--resolve is "a.test"/],
    [['crawl', 'http://a.test/', '--max-pages', 'many'], /--max-pages is "many"/],
    [['crawl', 'http://a.test/', '--scope', 'planet'], /--scope is "planet"/],
    [['crawl', 'http://a.test/', '--id', 'my crawl'], /Invalid --id "my crawl"/],
    [['crawl', 'http://a.test/', '--dely', '1s'], /unknown option '--dely' \(Did you mean --delay\?\)/],
    [['crawl', 'http://a.test/', '--config', 'missing.json'], /missing\.json cannot be read/],
    [['export', 'x', '--format', 'csv'], /'csv' is invalid/],
    [['export'], /missing required argument 'crawl'/],
    [['export', 'x'], /no crawl named x/],
    [['status', 'x'], /no crawl named x/],
    [['pause', 'x'], /no crawl named x/],
    [['resume', 'x'], /no crawl named x/],
    [['verify', 'x'], /no crawl named x/],
    [['verify'], /Give either the crawl to verify or --all/],
    [['verify', 'x', '--all'], /Give either the crawl to verify or --all/],
    [['page', 'nonsense'], /Invalid URL "nonsense"/],
    [
      ['page', 'http://a.test/'],
      /No crawl on record has found http:\/\/a\.test\/; start one with "amble crawl/,
    ],
    [['domain', 'delay', 'a.test', '10'], /Invalid delay "10": give a time such as 30s/],
    [['domain', 'delay', 'a.test', '15s-5s'], /Invalid delay "15s-5s"/],
    [['domain', 'delay', 'a.test', '25h'], /Invalid delay "25h"/],
    [['domain', 'pause', 'a.test/path'], /Invalid domain "a.test\/path"/],
    [['domain', 'frobnicate'], /unknown command 'frobnicate'/],
    [['frobnicate'], /unknown command 'frobnicate'/],
  ])('%j', async (args, sentence) => {
    const { code, stdout, stderr } = await runInProcess(args, { cwd });
    expect({ code, stdout }).toEqual({ code: 2, stdout: '' });
    expect(stderr).toMatch(sentence);
    expect(stderr.trimEnd().split('\n')).toHaveLength(1);
    expect(existsSync(join(cwd, '.amble'))).toBe(false);
  });

  test('in the environment too', async () => {
    const { code, stderr } = await runAmble(['status'], { cwd, env: { AMBLE_DELAY: 'soon' } });
    expect(code).toBe(2);
    expect(stderr).toMatch(/^amble: AMBLE_DELAY is "soon"/);
  });
});

test('status of a home without crawls starts no engine', async () => {
  const { code, stdout, stderr } = await runAmble(['status', '--home', 'empty'], { cwd });
  expect({ code, stderr }).toEqual({ code: 0, stderr: '' });
  expect(stdout).toMatch(/^No crawls in .*empty yet; /);
  expect(existsSync(join(cwd, 'empty'))).toBe(false);
});

test('an unreachable server is one sentence and exit code 1', async () => {
  const env = { DATABASE_URL: 'postgresql://amble@127.0.0.1:1/amble' };
  const { code, stdout, stderr } = await runAmble(['status'], { cwd, env });
  expect({ code, stdout }).toEqual({ code: 1, stdout: '' });
  expect(stderr).toMatch(/^amble: Postgres at 127\.0\.0\.1:1 is unavailable: .*DATABASE_URL.*\n$/);
  const debugged = await runAmble(['status'], { cwd, env: { ...env, AMBLE_LOG_LEVEL: 'debug' } });
  expect(debugged.stderr).toMatch(/^ +at /m);
});

test('amble server shows no secret of its configuration file', async () => {
  const serverToken = 'planted-server-token';
  const settings = {
    serverToken,
    temporalAddress: `${serverToken}.invalid:7233`,
    databaseUrl: 'postgresql://amble@127.0.0.1:1/amble',
  };
  writeFileSync(join(cwd, 'amble.config.json'), JSON.stringify(settings));
  const { code, stderr } = await runAmble(['server'], { cwd });
  expect(code).toBe(1);
  expect(stderr).toContain('[redacted].invalid');
  expect(stderr).not.toContain(serverToken);
});
