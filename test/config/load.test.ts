import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { CRAWL_DEFAULTS } from '../../src/config/crawl-schema.ts';
import { BadInput, CONFIG_KEYS, loadConfig } from '../../src/config/index.ts';
import { packageVersion } from '../../src/core/package-root.ts';

let cwd: string;

beforeEach(() => {
  cwd = mkdtempSync(join(tmpdir(), 'amble-config-'));
});

afterEach(() => {
  rmSync(cwd, { recursive: true });
});

function writeConfig(content: unknown, file = 'amble.config.json'): void {
  writeFileSync(join(cwd, file), typeof content === 'string' ? content : JSON.stringify(content));
}

function load(env: Record<string, string> = {}, flags: Record<string, unknown> = {}) {
  return loadConfig({ env, cwd, flags });
}

/** The message of the error. */
function refusal(env: Record<string, string> = {}, flags: Record<string, unknown> = {}): string {
  try {
    load(env, flags);
  } catch (error) {
    if (error instanceof BadInput) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

describe('with nothing configured', () => {
  test('everything has its default', () => {
    expect(load()).toEqual({
      home: join(cwd, '.amble'),
      temporalAddress: null,
      temporalNamespace: 'default',
      temporalAccess: null,
      temporalBinary: null,
      temporalUiUrl: null,
      databaseUrl: null,
      taskQueue: 'amble',
      buildId: null,
      politenessKey: 'host',
      contact: null,
      from: null,
      userAgent: `Amble/${packageVersion}`,
      contentStore: { kind: 'directory', path: join(cwd, '.amble', 'content') },
      logLevel: 'info',
      dashboardUrl: 'http://localhost:8080',
      listen: { host: 'localhost', port: 8080 },
      serverToken: null,
      serverHosts: [],
      logFormat: 'auto',
      publicBotUrl: null,
      maxConcurrentFetches: 200,
      metrics: { listen: null },
      health: { listen: null },
      shutdownTimeoutMs: 25_000,
      address: { gapMs: 250, maxOpen: 8, exempt: ['127.0.0.0/8', '::1/128'] },
      throttle: {
        startWindowMs: 60_000,
        maxReserved: 16,
        horizonMs: 60_000,
        maxWaiting: 1_000,
        pauseRetryMs: 300_000,
        maxBackoffMs: 3_600_000,
        maxRetryAfterMs: 86_400_000,
        maxCrawlDelayMs: 300_000,
        outageRetryMs: 600_000,
        maxOutageRetryMs: 3_600_000,
        outageGiveUpMs: 86_400_000,
        idleTimeoutMs: 600_000,
      },
      asking: { pauseMs: 5_000, quietMs: 60_000 },
      robots: {
        fresh: { minMs: 3_600_000, maxMs: 86_400_000 },
        retryMs: 60_000,
        maxRetryMs: 3_600_000,
        outageGiveUpMs: 86_400_000,
      },
      parseTimeoutMs: 30_000,
      maxBodyMemoryBytes: 256 * 1024 * 1024,
      heartbeatMs: 10_000,
      crawl: {
        preset: 'smallweb',
        scope: 'site',
        include: [],
        exclude: [],
        maxPages: null,
        maxPagesPerDomain: null,
        maxDepth: null,
        maxRedirects: 5,
        sitemaps: false,
        delay: { minMs: 10_000, maxMs: 10_000 },
        order: 'first-come',
        concurrency: 1,
        targetConcurrency: null,
        domains: {},
        urlTypes: [],
        retry: {
          initialIntervalMs: 3_600_000,
          backoffCoefficient: 1,
          maximumAttempts: 3,
          maximumIntervalMs: 86_400_000,
          jitterMs: 0,
        },
        fetch: {
          connectTimeoutMs: 10_000,
          headersTimeoutMs: 20_000,
          totalTimeoutMs: 60_000,
          maxBodyBytes: 10_485_760,
        },
        keepTypes: [],
        resolve: {},
        allowNetwork: [],
        warmup: { pending: 0, atMostMs: 600_000 },
        window: 4,
        maxWaiting: 100,
        longWaitMs: 60_000,
        sweepIntervalMs: 10_000,
        maxLinksPerPage: 10_000,
        urls: {
          maxLength: 2_000,
          decodeUnreserved: true,
          sortQuery: true,
          stripTracking: true,
          stripSessionIds: true,
          stripParameters: [],
        },
        traps: {
          maxPathDepth: 20,
          maxRepeats: 3,
          maxPerDirectory: 10_000,
          maxPerQuery: 5_000,
          maxPerCalendar: 500,
          maxHostsPerSite: 1_000,
          maxPortsPerHost: 4,
        },
      },
      crawlDefaults: CRAWL_DEFAULTS,
      crawlTuning: {
        window: null,
        maxWaiting: 100,
        longWaitMs: 60_000,
        sweepIntervalMs: 10_000,
        maxLinksPerPage: 10_000,
      },
    });
  });
});

describe('sources', () => {
  test('a flag beats the environment, which beats the file, which beats the default', () => {
    const delayOf = (env: Record<string, string>, flags: Record<string, unknown>) =>
      load(env, flags).crawl.delay.minMs;
    writeConfig({ delay: '3s' });
    expect(delayOf({}, {})).toBe(3_000);
    expect(delayOf({ AMBLE_DELAY: '2s' }, {})).toBe(2_000);
    expect(delayOf({ AMBLE_DELAY: '2s' }, { delay: '1s' })).toBe(1_000);
  });

  test('each source may set part of a group', () => {
    writeConfig({ retry: { initialInterval: '15m', jitter: '5m' } });
    expect(load({ AMBLE_RETRY_JITTER: '1m' }).crawl.retry).toMatchObject({
      initialIntervalMs: 900_000,
      jitterMs: 60_000,
      maximumAttempts: 3,
    });
  });

  test('every key can be set by its variable to its own default', () => {
    const text = (value: unknown) => (Array.isArray(value) && value.length === 0 ? ',' : String(value));
    const env = CONFIG_KEYS.map((key) => [key.env, text(key.default)]);
    const { crawlDefaults: _, ...config } = load(Object.fromEntries(env));
    expect(load()).toMatchObject(config);
  });

  test('a variable may hold a table or list as JSON, which replaces that of lower sources', () => {
    writeConfig({ domains: { 'a.test': { delay: '1s' }, 'b.test': { delay: '1s' } } });
    const { domains, urlTypes } = load({
      AMBLE_DOMAINS: '{"B.test.": {"delay": "30s", "targetConcurrency": "none"}}',
      AMBLE_URL_TYPES: '[{"name": "search", "pattern": "/search*", "priority": 1}]',
    }).crawl;
    expect(domains).toEqual({
      'b.test': { delay: { minMs: 30_000, maxMs: 30_000 }, targetConcurrency: null },
    });
    expect(urlTypes).toEqual([{ name: 'search', pattern: '/search*', priority: 1, keyword: null }]);
  });

  test('"none" removes the rules of a lower source', () => {
    writeConfig({ domains: { 'a.test': { delay: '1s' } }, preset: 'shop' });
    expect(load({ AMBLE_DOMAINS: 'none', AMBLE_URL_TYPES: 'none' }).crawl).toMatchObject({
      domains: {},
      urlTypes: [],
    });
  });

  test('the variables of Temporal and Postgres tools are read', () => {
    const env = {
      TEMPORAL_ADDRESS: 'temporal.example:7233',
      TEMPORAL_NAMESPACE: 'crawls',
      DATABASE_URL: 'postgresql://me@db.example/amble',
    };
    expect(load(env)).toMatchObject({
      temporalAddress: 'temporal.example:7233',
      temporalNamespace: 'crawls',
      databaseUrl: 'postgresql://me@db.example/amble',
    });
  });

  test('an empty variable counts as not set', () => {
    expect(load({ AMBLE_DELAY: '', DATABASE_URL: ' ' })).toEqual(load());
  });

  test('lists are separated by commas in a variable', () => {
    const env = {
      AMBLE_RESOLVE: 'A.test:127.0.0.1, b.test:[::1]',
      AMBLE_ALLOW_NETWORK: '127.0.0.0/8,::1/128',
    };
    expect(load(env).crawl).toMatchObject({
      resolve: { 'a.test': '127.0.0.1', 'b.test': '::1' },
      allowNetwork: ['127.0.0.0/8', '::1/128'],
    });
  });

  test('another file can be named by flag or variable', () => {
    writeConfig({ taskQueue: 'other' }, 'other.json');
    expect(load({}, { config: 'other.json' }).taskQueue).toBe('other');
    expect(load({ AMBLE_CONFIG: 'other.json' }).taskQueue).toBe('other');
  });

  test('"none" removes the limit of a lower source', () => {
    writeConfig({ maxPages: 10 });
    expect(load({ AMBLE_MAX_PAGES: 'none' }).crawl.maxPages).toBeNull();
  });

  test('without a contact, the page about the crawler on a public server is one', () => {
    const address = { AMBLE_PUBLIC_URL: 'https://crawler.example.org' };
    expect(load(address).contact).toBe('https://crawler.example.org/bot');
    expect(load({ ...address, AMBLE_CONTACT: 'https://example.org/me' }).contact).toBe(
      'https://example.org/me',
    );
  });

  test('the contact is added to the User-Agent unless it is there already', () => {
    const contact = 'https://example.org/bot';
    expect(load({ AMBLE_CONTACT: contact }).userAgent).toBe(`Amble/${packageVersion} (+${contact})`);
    const userAgent = `MyBot/2.0 (${contact})`;
    expect(load({ AMBLE_CONTACT: contact, AMBLE_USER_AGENT: userAgent }).userAgent).toBe(userAgent);
  });
});

describe('what is not a setting', () => {
  test('follows from settings: the window from the highest concurrency, the warm-up from the order', () => {
    expect(load({}, { preset: 'news' }).crawl.window).toBe(10);
    expect(load({}, { domains: { 'a.test': { concurrency: 2 } } }).crawl.window).toBe(6);
    expect(load({}, { order: 'shuffled' }).crawl.warmup.pending).toBe(15);
  });

  test('can be changed by tests, in part, but not in the config file', () => {
    const env = { AMBLE_TEST_TUNING: '{"heartbeatMs": 2000, "crawl": {"window": 1}}' };
    const { heartbeatMs, crawl } = load(env);
    expect({ heartbeatMs, window: crawl.window, longWaitMs: crawl.longWaitMs }).toEqual({
      heartbeatMs: 2_000,
      window: 1,
      longWaitMs: 60_000,
    });
    expect(refusal({ AMBLE_TEST_TUNING: '{"heartbeat": 2000}' })).toMatch(/^AMBLE_TEST_TUNING is not valid/);
    writeConfig({ heartbeatMs: 2_000 });
    expect(refusal()).toMatch(/^"heartbeatMs" in amble\.config\.json is not a setting/);
  });
});

describe('a preset', () => {
  test('overrides lower sources, and is overridden by its own source and those above', () => {
    writeConfig({ preset: 'shop', delay: '3s', concurrency: 2 });
    expect(load().crawl).toMatchObject({ delay: { minMs: 3_000 }, concurrency: 2, order: 'shuffled' });
    expect(load({ AMBLE_CONCURRENCY: '7' }, { preset: 'broad' }).crawl).toMatchObject({
      preset: 'broad',
      delay: { minMs: 1_000 },
      concurrency: 1,
    });
    expect(load({ AMBLE_PRESET: 'broad' }, { concurrency: '7' }).crawl).toMatchObject({
      scope: 'any',
      concurrency: 7,
    });
  });

  test('replaces the preset of a lower source completely', () => {
    writeConfig({ preset: 'shop' });
    const replaced = load({}, { preset: 'smallweb' });
    expect(replaced).toEqual(load({ AMBLE_PRESET: 'smallweb' }));
    writeConfig({});
    expect(replaced).toEqual(load());
  });

  test('that is unknown is refused with the names of all presets', () => {
    expect(refusal({}, { preset: 'gentle' })).toBe(
      '--preset is "gentle", but must be one of smallweb, shop, news, broad.',
    );
  });
});

describe('an error is one sentence with the source, the value and what is expected', () => {
  test('of a flag', () => {
    expect(refusal({}, { delay: 'soon' })).toBe(
      '--delay is "soon", but must be a duration such as "10s" or a range such as "5s-15s", the shorter first, at most 24h.',
    );
    expect(refusal({}, { maxPages: '0' })).toMatch(
      /^--max-pages is "0", but must be a whole number of at least 1/,
    );
    expect(refusal({}, { allowNetwork: ['10.0/99'] })).toMatch(
      /^--allow-network is "10\.0\/99", but must be networks/,
    );
  });

  test('of a variable', () => {
    expect(refusal({ AMBLE_FETCH_TOTAL_TIMEOUT: 'never' })).toMatch(
      /^AMBLE_FETCH_TOTAL_TIMEOUT is "never", but must be a duration above zero/,
    );
    expect(refusal({ AMBLE_SCOPE: 'all' })).toBe('AMBLE_SCOPE is "all", but must be one of host, site, any.');
    expect(refusal({ AMBLE_BUILD_ID: 'a b' })).toBe(
      'AMBLE_BUILD_ID is "a b", but must be an id of 1 to 100 letters, digits and ".", "_", "+", "-" such as "0.2.0", or "none".',
    );
  });

  test('of a part of a table in a variable', () => {
    expect(refusal({ AMBLE_DOMAINS: '{"a.test": {"delay": "soon"}}' })).toMatch(
      /^"a\.test\.delay" in AMBLE_DOMAINS is "soon", but must be a duration/,
    );
    expect(refusal({ AMBLE_DOMAINS: '{"a.test"' })).toBe(
      'AMBLE_DOMAINS is "{\\"a.test\\"", but must be an object.',
    );
  });

  test('of a value in the file', () => {
    writeConfig({ fetch: { maxBodySize: 'huge' } });
    expect(refusal()).toMatch(/^"fetch\.maxBodySize" in amble\.config\.json is "huge", but must be a size/);
  });

  test('of a value in place of a group', () => {
    writeConfig({ retry: '3 times' });
    expect(refusal()).toBe('"retry" in amble.config.json is "3 times", but must be an object.');
  });

  test('of an unknown key or variable', () => {
    expect(refusal({ AMBLE_DELY: '1s' })).toMatch(/^AMBLE_DELY in the environment is not a setting/);
    writeConfig({ retry: { attempts: 3 } });
    expect(refusal()).toMatch(/^"retry\.attempts" in amble\.config\.json is not a setting/);
  });

  test('of a named file that is missing, or is not JSON', () => {
    expect(refusal({}, { config: 'missing.json' })).toBe(
      'The configuration file missing.json cannot be read (ENOENT).',
    );
    writeConfig('{ delay: 10s }');
    expect(refusal()).toMatch(/^amble\.config\.json is not valid JSON: /);
    writeConfig('[]');
    expect(refusal()).toBe('amble.config.json must hold one JSON object of settings.');
  });

  test('of a database URL, without the password in it', () => {
    const sentence = refusal({ DATABASE_URL: 'mysql://me:secret@db/amble' });
    expect(sentence).toMatch(/^DATABASE_URL is not understood, but must be a URL such as "postgresql:/);
    expect(sentence).not.toContain('secret');
  });

  test('of a User-Agent with a line break, which would add a header', () => {
    expect(refusal({ AMBLE_USER_AGENT: 'Bot/1\r\nX-Evil: 1' })).toMatch(
      /^AMBLE_USER_AGENT is .* printable ASCII/,
    );
  });
});

describe('what becomes part of a header', () => {
  const contact = 'https://example.org/bot';

  test.each([
    ['127.0.0.1:9464', '127.0.0.1:9464'],
    ['[::1]:9464', '[::1]:9464'],
    ['::1:9464', '[::1]:9464'],
  ])('metrics are served at %s', (listen, address) => {
    expect(load({ AMBLE_METRICS_LISTEN: listen }).metrics.listen).toBe(address);
  });

  test.each(['localhost:9464', '127.0.0.1', '127.0.0.1:0', '127.0.0.1:65536', ':9464'])(
    'metrics are not served at %s',
    (listen) => {
      expect(refusal({ AMBLE_METRICS_LISTEN: listen })).toBe(
        `AMBLE_METRICS_LISTEN is "${listen}", but must be an IP address and a port such as "127.0.0.1:9464", or "none".`,
      );
    },
  );

  test.each([
    ['contact', `${contact}\r\nX-Evil: 1`],
    ['contact', `${contact}?\na`],
    ['contact', 'https://bücher.example/'],
    ['contact', `${contact}/🕸`],
    ['contact', `${contact}\u0085b`],
    ['userAgent', 'MyBot/1.0\r\nX-Evil: 1'],
    ['userAgent', 'MyBot/1.0 ☃'],
    ['from', 'a@example.org\nX-Evil: 1'],
    ['from', 'ä@example.org'],
  ])('%s is refused as %j', (key, written) => {
    expect(refusal({}, { [key]: written })).toMatch(/, but must be .*\.$/);
  });
});

test('a text that can never be stored is refused with its source', () => {
  writeConfig({ exclude: ['/a\0'] });
  expect(refusal()).toBe(
    '"exclude.0" in amble.config.json contains a NUL character or half of a surrogate pair, which no text may have.',
  );
});

describe('a file that merely lies in the working directory', () => {
  test.each([
    [
      { temporalBinary: './evil' },
      /^"temporalBinary" in amble\.config\.json names a program .* set AMBLE_TEMPORAL_BINARY, or/,
    ],
    [
      { temporalApiKeyFile: '.ssh/id' },
      /^"temporalApiKeyFile" in amble\.config\.json names .* set AMBLE_TEMPORAL_API_KEY_FILE, or/,
    ],
    [{ home: '../elsewhere' }, /^"home" in amble\.config\.json is outside .* set AMBLE_HOME, or/],
    [{ home: '/var/lib/amble' }, /^"home" in amble\.config\.json is outside/],
    [{ home: 'data/../..' }, /^"home" in amble\.config\.json is outside/],
  ])('may not set %o', (settings, sentence) => {
    writeConfig(settings);
    expect(refusal()).toMatch(sentence);
    // It would be taken if the variable were unset later, or in another shell.
    expect(refusal({ AMBLE_TEMPORAL_BINARY: 'temporal', AMBLE_HOME: 'home' })).toMatch(sentence);
  });

  test.each([
    { home: 'data/amble' },
    { home: '.' },
    { home: '..data' },
    { temporalBinary: 'none', temporalApiKeyFile: null },
  ])('may set %o', (settings) => {
    writeConfig(settings);
    expect(load().home).toBe(join(cwd, settings.home ?? '.amble'));
  });

  test('may set anything if it was named', () => {
    writeConfig({ temporalBinary: './temporal', home: '../elsewhere' });
    const expected = { temporalBinary: join(cwd, 'temporal'), home: join(cwd, '../elsewhere') };
    expect(load({}, { config: 'amble.config.json' })).toMatchObject(expected);
    expect(load({ AMBLE_CONFIG: 'amble.config.json' })).toMatchObject(expected);
  });
});
