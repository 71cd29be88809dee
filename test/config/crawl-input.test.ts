import { describe, expect, test } from 'vitest';
import { BadInput, loadConfig, parseCrawlInput, writeCrawlInput } from '../../src/config/index.ts';
import type { CrawlSettings } from '../../src/settings.ts';

const defaults = loadConfig({ env: {}, cwd: '/' }).crawl;

function refusal(input: unknown): string {
  try {
    parseCrawlInput(input, defaults);
  } catch (error) {
    if (error instanceof BadInput) return error.message;
    throw error;
  }
  throw new Error('was accepted');
}

test('seeds alone are enough: all else is the default', () => {
  expect(parseCrawlInput({ seeds: ['https://example.org/'] }, defaults)).toEqual({
    seeds: ['https://example.org/'],
    settings: defaults,
  });
});

test('seeds are normalised, each kept once', () => {
  const { seeds } = parseCrawlInput({ seeds: ['HTTPS://Example.org', 'https://example.org/#top'] }, defaults);
  expect(seeds).toEqual(['https://example.org/']);
});

test('what is given overrides the defaults, part by part', () => {
  const input = {
    seeds: ['http://a.test/'],
    delay: '5s-15s',
    maxPages: 20,
    retry: { maximumAttempts: 2 },
    resolve: ['a.test:127.0.0.1'],
    allowNetworks: ['127.0.0.0/8'],
  };
  const { settings } = parseCrawlInput(input, { ...defaults, resolve: { 'other.test': '192.0.2.1' } });
  expect(settings).toEqual({
    ...defaults,
    delay: { minMs: 5_000, maxMs: 15_000 },
    maxPages: 20,
    retry: { ...defaults.retry, maximumAttempts: 2 },
    resolve: { 'a.test': '127.0.0.1' },
    allowNetworks: ['127.0.0.0/8'],
  });
});

test('the singular that the flag has is understood', () => {
  const { settings } = parseCrawlInput({ seeds: ['http://a.test/'], allowNetwork: '127.0.0.0/8' }, defaults);
  expect(settings.allowNetworks).toEqual(['127.0.0.0/8']);
});

test('an input written from settings reads back as the same settings', () => {
  const settings: CrawlSettings = {
    ...defaults,
    delay: { minMs: 1_234, maxMs: 86_400_000 },
    maxDepth: 0,
    resolve: { 'a.test': '127.0.0.1', 'b.test': '::1' },
    allowNetworks: ['::1/128'],
    fetch: { ...defaults.fetch, maxBodyBytes: 1_000_001 },
  };
  const request = { seeds: ['http://a.test/'], settings };
  const others = loadConfig({
    env: { AMBLE_DELAY: '1s', AMBLE_RESOLVE: 'c.test:192.0.2.1' },
    cwd: '/',
  }).crawl;
  expect(parseCrawlInput(JSON.parse(JSON.stringify(writeCrawlInput(request))), others)).toEqual(request);
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
    [{ seeds: ['http://a.test/'], dely: '1s' }, /^"dely" in the crawl's input is not a setting/],
    [
      { seeds: ['http://a.test/'], retry: { tries: 1 } },
      /^"retry.tries" in the crawl's input is not a setting/,
    ],
    [{ seeds: ['http://a.test/'], taskQueue: 'x' }, /^"taskQueue" in the crawl's input is not a setting/],
    [{ seeds: ['http://a.test/'], allowNetwork: [], allowNetworks: [] }, /mean the same; give only one/],
  ])('for %j', (input, sentence) => {
    expect(refusal(input)).toMatch(sentence);
    expect(refusal(input)).not.toContain('\n');
  });
});
