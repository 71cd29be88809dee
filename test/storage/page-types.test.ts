import { expect, test } from 'vitest';
import type { UrlType } from '../../src/core/settings.ts';
import { type ExportedPage, exportPages } from '../../src/storage/reports/export.ts';
import { linksTo, numbered, redirectTo, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

const types: UrlType[] = [
  { name: 'search', pattern: '/search*', priority: 1, keyword: null },
  { name: 'product', pattern: '/p/*', priority: 2, keyword: 'goods' },
];

test('a page gets its type, priority and keyword from its URL', async () => {
  const crawl = await startCrawl(db(), { urlTypes: types });
  await crawl.add('http://a.test/search?q=1', 'http://a.test/p/1', 'http://a.test/about');
  expect(await crawl.page('http://a.test/search?q=1')).toMatchObject({
    type: 'search',
    priority: 1,
    keyword: null,
  });
  expect(await crawl.page('http://a.test/p/1')).toMatchObject({
    type: 'product',
    priority: 2,
    keyword: 'goods',
  });
  expect(await crawl.page('http://a.test/about')).toMatchObject({ type: null, priority: 5, keyword: null });
});

test('pages are admitted by the priority of their type, in whatever order they were found', async () => {
  const crawl = await startCrawl(db(), { urlTypes: types, window: 2 });
  await crawl.add('http://a.test/about', 'http://a.test/p/1');
  await crawl.add('http://a.test/search');
  expect((await crawl.admit()).map(({ url, priority }) => [url, priority])).toEqual([
    ['http://a.test/search', 1],
    ['http://a.test/p/1', 2],
  ]);
});

test('a seed’s keyword is inherited over links and redirects', async () => {
  const crawl = await startCrawl(db(), {
    urlTypes: types,
    seeds: [
      { url: 'http://a.test/search', keyword: 'lamp', priority: null },
      { url: 'http://b.test/search', keyword: null, priority: null },
    ],
  });
  const [first, second] = await crawl.admit();
  await crawl.record(first, { parsed: linksTo('http://a.test/moved', 'http://a.test/p/1') });
  await crawl.record(second, { parsed: linksTo('http://b.test/p/1') });
  const moved = (await crawl.admit()).find(({ url }) => url === 'http://a.test/moved');
  await crawl.record(moved, { report: redirectTo('http://a.test/p/2') });
  const keywords = Object.fromEntries((await crawl.pages()).map(({ url, keyword }) => [url, keyword]));
  expect(keywords).toEqual({
    'http://a.test/search': 'lamp',
    'http://a.test/moved': 'lamp',
    'http://a.test/p/1': 'lamp',
    'http://a.test/p/2': 'lamp',
    'http://b.test/search': null,
    'http://b.test/p/1': 'goods',
  });
});

test('a seed’s own priority overrides its type’s, and its redirect target inherits it', async () => {
  const crawl = await startCrawl(db(), {
    urlTypes: types,
    seeds: [{ url: 'http://a.test/search', keyword: null, priority: 3 }],
  });
  const [seed] = await crawl.admit();
  expect(seed?.priority).toBe(3);
  await crawl.record(seed, { report: redirectTo('http://a.test/found') });
  expect(await crawl.page('http://a.test/found')).toMatchObject({ type: null, priority: 3 });
});

test('type, priority and keyword are in the export', async () => {
  const crawl = await startCrawl(db(), {
    urlTypes: types,
    seeds: [{ url: 'http://a.test/p/1', keyword: 'lamp', priority: null }],
  });
  const exported: ExportedPage[] = [];
  for await (const page of exportPages(db(), crawl.id)) exported.push(page);
  expect(exported).toMatchObject([
    { url: 'http://a.test/p/1', type: 'product', priority: 2, keyword: 'lamp' },
  ]);
});

test('within a priority, pages are admitted in the order found, or at random if shuffled', async () => {
  const urls = numbered(60);
  const orders = await Promise.all(
    (['first-come', 'first-come', 'shuffled', 'shuffled'] as const).map(async (order) => {
      const crawl = await startCrawl(db(), { order });
      await crawl.add(...urls.slice(0, 30));
      await crawl.add(...urls.slice(20));
      return (await crawl.admit()).map(({ url }) => url);
    }),
  );
  const [one, other, shuffled, shuffledToo] = orders;
  expect(one).toEqual(urls);
  expect(other).toEqual(urls);
  expect(shuffled?.toSorted()).toEqual(urls.toSorted());
  expect(shuffled).not.toEqual(urls);
  expect(shuffled).not.toEqual(shuffledToo);
});

test('seeds are admitted in the given order, links in the order on their page', async () => {
  const seeds = numbered(10);
  const crawl = await startCrawl(db(), { seeds, window: 10, maxPages: 15 });
  const admitted = await crawl.admit();
  expect(admitted.map(({ url }) => url)).toEqual(seeds);
  const links = numbered(40).slice(10);
  await crawl.record(admitted[0], { parsed: linksTo(...links) });
  for (const page of admitted.slice(1)) await crawl.record(page);
  expect((await crawl.admit()).map(({ url }) => url)).toEqual(links.slice(0, 5));
});

test('shuffled pages are still admitted by priority', async () => {
  const crawl = await startCrawl(db(), { urlTypes: types, order: 'shuffled' });
  await crawl.add(...numbered(20).map((url) => url.replace('test/', 'test/p/')));
  await crawl.add(...numbered(20).map((url) => url.replace('test/', 'test/search')));
  const priorities = (await crawl.admit()).map(({ priority }) => priority);
  expect(priorities).toEqual([...Array(20).fill(1), ...Array(20).fill(2)]);
});
