import { describe, expect, test } from 'vitest';
import { BadInput, createCrawlInput, loadConfig, parseCrawlInput } from '../../src/config/index.ts';
import type { Seed } from '../../src/core/settings.ts';

const config = loadConfig({ env: {}, cwd: '/' });
const defaults = config.crawl;

function plain(url: string): Seed {
  return { url, keyword: null, priority: null };
}

function refusal(input: unknown): string {
  try {
    parseCrawlInput(input, config);
  } catch (error) {
    if (error instanceof BadInput) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

test('seeds are enough; every other setting has its default', () => {
  expect(parseCrawlInput({ seeds: ['https://example.org/'] }, config)).toEqual({
    seeds: [plain('https://example.org/')],
    settings: defaults,
  });
});

test('seeds are normalised and kept once each', () => {
  const { seeds } = parseCrawlInput({ seeds: ['HTTPS://Example.org', 'https://example.org/#top'] }, config);
  expect(seeds).toEqual([plain('https://example.org/')]);
});

test('a seed that cannot be crawled is named without its password', () => {
  const message = refusal({ seeds: ['ftp://me:secret@example.org/file'] });
  expect(message).toContain('"ftp://example.org/file"');
  expect(message).not.toContain('secret');
});

test('an input overrides the defaults key by key', () => {
  const input = {
    seeds: ['http://a.test/'],
    delay: '5s-15s',
    maxPages: 20,
    retry: { maximumAttempts: 2 },
    resolve: ['a.test:127.0.0.1'],
    allowNetwork: ['127.0.0.0/8'],
  };
  const installed = loadConfig({ env: { AMBLE_RESOLVE: 'other.test:192.0.2.1' }, cwd: '/' });
  const { settings } = parseCrawlInput(input, installed);
  expect(settings).toEqual({
    ...defaults,
    delay: { minMs: 5_000, maxMs: 15_000 },
    maxPages: 20,
    retry: { ...defaults.retry, maximumAttempts: 2 },
    resolve: { 'a.test': '127.0.0.1' },
    allowNetwork: ['127.0.0.0/8'],
  });
});

test('an input created from a configuration gives its settings on a worker with other defaults', () => {
  const flags = {
    preset: 'shop',
    delay: '1s-2s',
    maxDepth: '0',
    maxPages: 'none',
    sitemaps: true,
    include: ['/docs/*'],
    cleanUrls: false,
    stripParameters: 'ref',
    traps: { maxPerCalendar: 'none' },
    resolve: { 'a.test': '127.0.0.1', 'b.test': '::1' },
    allowNetwork: ['::1/128'],
    fetch: { maxBodySize: 1_000_001 },
    domains: { 'a.test': { delay: 5, targetConcurrency: null }, 'b.test': { concurrency: 3 } },
  };
  const sender = loadConfig({ env: { AMBLE_RETRY_JITTER: '1s' }, cwd: '/', flags });
  const seeds = [plain('http://a.test/'), { url: 'http://b.test/', keyword: 'lamp', priority: 2 }];
  const worker = loadConfig({
    env: {
      AMBLE_DELAY: '1s',
      AMBLE_MAX_PAGES: '3',
      AMBLE_RESOLVE: '{"c.test": "192.0.2.1"}',
      AMBLE_PRESET: 'news',
      AMBLE_DOMAINS: '{"c.test": {"delay": "1m"}}',
    },
    cwd: '/',
  });
  const sent = JSON.stringify(createCrawlInput(seeds, sender));
  expect(parseCrawlInput(JSON.parse(sent), worker)).toEqual({ seeds, settings: sender.crawl });
});

test('a seed may carry a keyword and a priority; of two equal URLs the first counts', () => {
  const { seeds } = parseCrawlInput(
    { seeds: [{ url: 'http://a.test', keyword: ' lamp ', priority: 1 }, 'http://a.test/', 'http://b.test/'] },
    config,
  );
  expect(seeds).toEqual([{ url: 'http://a.test/', keyword: 'lamp', priority: 1 }, plain('http://b.test/')]);
});

test("an input's preset overrides the installation's settings, and the input's own keys override the preset", () => {
  const installed = loadConfig({ env: { AMBLE_DELAY: '3s', AMBLE_PRESET: 'news' }, cwd: '/' });
  const seeds = ['http://a.test/'];
  expect(parseCrawlInput({ seeds }, installed).settings).toMatchObject({
    preset: 'news',
    delay: { minMs: 3_000, maxMs: 3_000 },
    targetConcurrency: 2,
  });
  expect(
    parseCrawlInput({ seeds, preset: 'shop', retry: { jitter: '1s' } }, installed).settings,
  ).toMatchObject({
    preset: 'shop',
    delay: { minMs: 5_000, maxMs: 15_000 },
    order: 'shuffled',
    targetConcurrency: null,
    retry: { maximumAttempts: 4, jitterMs: 1_000 },
  });
});

describe('the politeness key', () => {
  const seeds = ['http://a.test/'];

  test('may be part of the input if it is that of the installation', () => {
    expect(parseCrawlInput({ seeds, politenessKey: 'host' }, config).settings).toEqual(defaults);
  });

  test('of another kind is refused with a reason', () => {
    expect(refusal({ seeds, politenessKey: 'site' })).toBe(
      'The crawl asks for one gap per site, but this installation keeps one per host, and a server with two gaps would be asked too often: leave "politenessKey" out, or change it for the whole installation.',
    );
  });

  test('of the sender is part of the input, and is refused if it differs', () => {
    const input = createCrawlInput(seeds, { ...config, politenessKey: 'site' });
    expect(refusal(input)).toMatch(/asks for one gap per site, but this installation keeps one per host/);
  });

  test('decides which rules per domain can apply', () => {
    const bySite = { ...config, politenessKey: 'site' as const };
    const rules = (domain: string) => ({ seeds, domains: { [domain]: { delay: '30s' } } });
    expect(parseCrawlInput(rules('example.org'), bySite).settings.domains).toHaveProperty(['example.org']);
    expect(() => parseCrawlInput(rules('www.example.org'), bySite)).toThrow(
      'The rule for www.example.org cannot apply, because this installation keeps one gap for all of example.org; make it a rule for example.org.',
    );
  });
});

describe('an error is one sentence', () => {
  test.each([
    [undefined, /must be one JSON object such as \{"seeds"/],
    ['https://example.org/', /must be one JSON object/],
    [{}, /needs at least one URL to start from in "seeds"/],
    [{ seeds: [] }, /needs at least one URL/],
    [{ seeds: [42] }, /The seed 42 is not a URL/],
    [{ seeds: ['example.org'] }, /The seed "example.org" is not a URL that can be crawled/],
    [{ seeds: ['ftp://example.org/'] }, /ftp/],
    [
      { seeds: ['http://a.test/'], delay: 'soon' },
      /^"delay" in the crawl's input is "soon", but must be a duration/,
    ],
    [
      { seeds: ['http://a.test/'], sitemaps: 'maybe' },
      /^"sitemaps" in the crawl's input is "maybe", but must be true or false/,
    ],
    [{ seeds: ['http://a.test/'], include: 'docs' }, /must be patterns such as "\/docs\/\*"/],
    [{ seeds: ['http://a.test/'], dely: '1s' }, /^"dely" in the crawl's input is not a setting/],
    [
      { seeds: ['http://a.test/'], retry: { tries: 1 } },
      /^"retry.tries" in the crawl's input is not a setting/,
    ],
    [{ seeds: ['http://a.test/'], taskQueue: 'x' }, /^"taskQueue" in the crawl's input is not a setting/],
    [
      { seeds: ['http://a.test/'], preset: 'shoppe' },
      /^"preset" in the crawl's input is "shoppe", but must be one of smallweb, shop, news, broad\.$/,
    ],
    [
      { seeds: [{ url: 'http://a.test/', keyword: '' }] },
      /^"keyword" of the seed \{.*\} is "", but must be a keyword of 1 to 200 characters\.$/,
    ],
    [{ seeds: [{ address: 'http://a.test/' }] }, /^"(url|address)" of the seed/],
    [
      { seeds: ['http://a.test/'], domains: { 'example.org': { delay: 'soon' } } },
      /^"domains\.example\.org\.delay" in the crawl's input is "soon", but must be a duration/,
    ],
    [
      { seeds: ['http://a.test/'], domains: { 'http://example.org/': { delay: '1s' } } },
      /^"domains\.http:\/\/example\.org\/" in the crawl's input is .*, but must be a rule for a domain such as "example\.org"\.$/,
    ],
    [
      { seeds: ['http://a.test/'], domains: { 'example.org': { maxPages: 3 } } },
      /^"domains\.example\.org\.maxPages" in the crawl's input is not a setting/,
    ],
    [
      { seeds: ['http://a.test/'], urlTypes: [{ name: 'x', priority: 1 }] },
      /^"urlTypes\.0\.pattern" in the crawl's input is missing, but must be a pattern such as/,
    ],
    [
      { seeds: ['http://a.test/'], urlTypes: 'all' },
      /^"urlTypes" in the crawl's input is "all", but must be a list\.$/,
    ],
    [
      { seeds: ['http://a.test/'], targetConcurrency: 0 },
      /^"targetConcurrency" in the crawl's input is 0, but must be a whole number of at least 1, or "none"/,
    ],
  ])('for %j', (input, sentence) => {
    expect(refusal(input)).toMatch(sentence);
    expect(refusal(input)).not.toContain('\n');
  });
});

describe('a text that can never be stored is bad input', () => {
  const seeds = ['http://a.test/'];
  const type = { name: 'a', pattern: '/a', priority: 1 };

  test.each([
    ['include', { seeds, include: ['/a\0'] }],
    ['exclude', { seeds, exclude: ['/a\ud800*'] }],
    ['stripParameters', { seeds, stripParameters: ['ref', '\udc00'] }],
    ['keepTypes', { seeds, keepTypes: 'text/\0' }],
    ['the pattern of a type', { seeds, urlTypes: [{ ...type, pattern: '/a\0' }] }],
    ['the name of a type', { seeds, urlTypes: [{ ...type, name: 'a\ud800' }] }],
    ['the keyword of a type', { seeds, urlTypes: [{ ...type, keyword: 'a\0' }] }],
    ['a domain', { seeds, domains: { 'a\0.test': { delay: '1s' } } }],
    ['the name of a key', { seeds, 'a\ud800': 1 }],
    ['a seed', { seeds: ['http://a.test/\0'] }],
    ['the keyword of a seed', { seeds: [{ url: 'http://a.test/', keyword: 'a\udfff' }] }],
    ['politenessKey', { seeds, politenessKey: '\0' }],
  ])('%s', (_, input) => {
    const message = refusal(input);
    expect(message).toMatch(
      /^".*" in the crawl's input contains a NUL character or half of a surrogate pair/,
    );
    expect(message).not.toMatch(/[\0\p{Surrogate}]/u);
  });

  test('a character beyond the basic plane is a text like any other', () => {
    expect(parseCrawlInput({ seeds, include: ['/🕸/*'] }, config).settings.include).toEqual(['/🕸/*']);
  });

  test('input nested without end', () => {
    const nested = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`);
    expect(refusal({ seeds: nested })).toMatch(/is nested too deeply\.$/);
  });
});
