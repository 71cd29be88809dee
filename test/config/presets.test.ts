import fc from 'fast-check';
import { expect, test } from 'vitest';
import { loadConfig, PRESET_NAMES } from '../../src/config/index.ts';
import { PRESETS } from '../../src/config/presets.ts';
import { retryDelayMs } from '../../src/core/retry-policy.ts';
import { classifyUrl } from '../../src/urls/pattern.ts';

const crawlOf = (preset: string) => loadConfig({ env: {}, cwd: '/', flags: { preset } }).crawl;
const MINUTE_MS = 60_000;

/** The least and the most that each wait between two attempts may be, in minutes. */
function waitsOf(preset: string): [number, number][] {
  const { retry } = crawlOf(preset);
  return Array.from({ length: retry.maximumAttempts - 1 }, (_, n): [number, number] => [
    (retryDelayMs(retry, n + 1, () => 0) ?? -1) / MINUTE_MS,
    (retryDelayMs(retry, n + 1, () => 1) ?? -1) / MINUTE_MS,
  ]);
}

test('the names list every preset', () => {
  expect([...PRESET_NAMES].sort()).toEqual(Object.keys(PRESETS).sort());
});

test('all presets set the same keys, so that each replaces another completely', () => {
  const decided = PRESET_NAMES.map((name) => Object.keys(PRESETS[name]).sort());
  for (const keys of decided) expect(keys).toEqual(decided[0]);
});

test('the default preset is smallweb', () => {
  expect(loadConfig({ env: {}, cwd: '/' }).crawl).toEqual(crawlOf('smallweb'));
});

test('each has its delay', () => {
  const delays = PRESET_NAMES.map((name) => [name, crawlOf(name).delay]);
  expect(Object.fromEntries(delays)).toEqual({
    smallweb: { minMs: 10_000, maxMs: 10_000 },
    shop: { minMs: 5_000, maxMs: 15_000 },
    news: { minMs: 5_000, maxMs: 5_000 },
    broad: { minMs: 1_000, maxMs: 1_000 },
  });
});

test('each has its waits between attempts', () => {
  expect(waitsOf('smallweb')).toEqual([
    [60, 60],
    [60, 60],
  ]);
  expect(waitsOf('shop')).toEqual([
    [15, 20],
    [30, 35],
    [60, 65],
  ]);
  expect(waitsOf('news')).toEqual(Array(12).fill([60, 60]));
});

test.each([
  ['https://shop.example/search?q=lamp', 'search'],
  ['https://shop.example/de/search/lamp', 'search'],
  ['https://shop.example/?q=lamp', 'search'],
  ['https://shop.example/list?a=1&q=lamp', 'search'],
  ['https://shop.example/list?a=1&page=2', 'pagination'],
  ['https://shop.example/lamps/page/2', 'pagination'],
  ['https://shop.example/page/2', 'pagination'],
  ['https://shop.example/product/1', 'product'],
  ['https://shop.example/lamps/product-1.html', 'product'],
  ['https://shop.example/item/1', 'product'],
  ['https://shop.example/p/1', 'product'],
  ['https://shop.example/lamp/dp/1', 'product'],
  // What their hosts are called says nothing.
  ['https://search.example/about', null],
  ['https://product.example/', null],
  ['https://items.example/about?faq=1', null],
  ['https://page.example/research', null],
])('the shop preset takes %s for: %s', (url, type) => {
  const { urlTypes } = crawlOf('shop');
  expect(classifyUrl(urlTypes, url, null).type).toBe(type);
});

test('an explicit setting overrides the preset of its own and of lower sources', () => {
  const presets = fc.constantFrom(...PRESET_NAMES);
  fc.assert(
    fc.property(
      presets,
      presets,
      fc.nat(86_400_000),
      fc.integer({ min: 1, max: 99 }),
      (one, other, delay, concurrency) => {
        const { crawl } = loadConfig({
          env: { AMBLE_PRESET: one, AMBLE_CONCURRENCY: '1' },
          cwd: '/',
          flags: { preset: other, delay, concurrency },
        });
        expect(crawl).toEqual({
          ...crawlOf(other),
          delay: { minMs: delay, maxMs: delay },
          concurrency,
          window: 2 * concurrency + 2,
        });
      },
    ),
  );
});
