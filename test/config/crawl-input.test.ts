import { describe, expect, test } from 'vitest';
import { BadInput, loadConfig, parseCrawlInput, writeCrawlInput } from '../../src/config/index.ts';
import type { CrawlSettings, Seed } from '../../src/core/settings.ts';

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

test('seeds alone are enough: all else is the default', () => {
  expect(parseCrawlInput({ seeds: ['https://example.org/'] }, config)).toEqual({
    seeds: [plain('https://example.org/')],
    settings: defaults,
  });
});

test('seeds are normalised, each kept once', () => {
  const { seeds } = parseCrawlInput({ seeds: ['HTTPS://Example.org', 'https://example.org/#top'] }, config);
  expect(seeds).toEqual([plain('https://example.org/')]);
});

test('a seed that cannot be crawled is named without the login in it', () => {
  const message = refusal({ seeds: ['ftp://me:secret@example.org/file'] });
  expect(message).toContain('"ftp://example.org/file"');
  expect(message).not.toContain('secret');
});

test('what is given overrides the defaults, part by part', () => {
  const input = {
    seeds: ['http://a.test/'],
    delay: '5s-15s',
    maxPages: 20,
    retry: { maximumAttempts: 2 },
    resolve: ['a.test:127.0.0.1'],
    allowNetwork: ['127.0.0.0/8'],
  };
  const { settings } = parseCrawlInput(input, {
    ...config,
    crawl: { ...defaults, resolve: { 'other.test': '192.0.2.1' } },
  });
  expect(settings).toEqual({
    ...defaults,
    delay: { minMs: 5_000, maxMs: 15_000 },
    maxPages: 20,
    retry: { ...defaults.retry, maximumAttempts: 2 },
    resolve: { 'a.test': '127.0.0.1' },
    allowNetwork: ['127.0.0.0/8'],
  });
});

test('an input written from settings reads back as the same settings', () => {
  const settings: CrawlSettings = {
    ...defaults,
    delay: { minMs: 1_234, maxMs: 86_400_000 },
    maxDepth: 0,
    sitemaps: true,
    maxSitemapBytes: 1_000_001,
    include: ['/docs/*'],
    urls: { ...defaults.urls, sortQuery: false, stripParameters: ['ref'] },
    traps: { ...defaults.traps, maxPerCalendar: null },
    resolve: { 'a.test': '127.0.0.1', 'b.test': '::1' },
    allowNetwork: ['::1/128'],
    fetch: { ...defaults.fetch, maxBodyBytes: 1_000_001 },
    order: 'shuffled',
    warmup: { pending: 15, atMostMs: 61_000 },
    targetConcurrency: 2,
    domains: {
      'a.test': { delay: { minMs: 5, maxMs: 10 }, targetConcurrency: null },
      'b.test': { concurrency: 3, targetConcurrency: 3 },
    },
    urlTypes: [
      { name: 'search', pattern: '/search*', priority: 1, keyword: null },
      { name: 'lamp', pattern: '*lamp*', priority: 2, keyword: 'lamps' },
    ],
  };
  const request = {
    seeds: [plain('http://a.test/'), { url: 'http://b.test/', keyword: 'lamp', priority: 2 }],
    settings,
  };
  const others = loadConfig({
    env: {
      AMBLE_DELAY: '1s',
      AMBLE_RESOLVE: 'c.test:192.0.2.1',
      AMBLE_PRESET: 'shop',
      AMBLE_DOMAINS: '{"c.test": {"delay": "1m"}}',
    },
    cwd: '/',
  });
  const written = JSON.stringify(writeCrawlInput(request, 'host'));
  expect(parseCrawlInput(JSON.parse(written), others)).toEqual(request);
});

test('a seed may carry a keyword and a priority; named twice, the first one counts', () => {
  const { seeds } = parseCrawlInput(
    { seeds: [{ url: 'http://a.test', keyword: ' lamp ', priority: 1 }, 'http://a.test/', 'http://b.test/'] },
    config,
  );
  expect(seeds).toEqual([{ url: 'http://a.test/', keyword: 'lamp', priority: 1 }, plain('http://b.test/')]);
});

test("an input's preset goes before the installation's settings, and what stands beside it before the preset", () => {
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

  test('may be named if it is that of the installation', () => {
    expect(parseCrawlInput({ seeds, politenessKey: 'host' }, config).settings).toEqual(defaults);
  });

  test('of another kind is refused with the reason', () => {
    expect(refusal({ seeds, politenessKey: 'site' })).toBe(
      'The crawl wants one gap per site, but this installation keeps one per host, and a server with two would be asked too often: leave "politenessKey" out, or change it for the whole installation.',
    );
  });

  test('of a crawl that was written elsewhere comes along and is refused just so', () => {
    const written = writeCrawlInput({ seeds: [plain('http://a.test/')], settings: defaults }, 'site');
    expect(refusal(written)).toMatch(/wants one gap per site, but this installation keeps one per host/);
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

describe('a refusal is one sentence', () => {
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
      { seeds: ['http://a.test/'], domains: { 'example.org': { window: 3 } } },
      /^"domains\.example\.org\.window" in the crawl's input is not a setting/,
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
