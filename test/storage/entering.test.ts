import { expect, test } from 'vitest';
import { atOnce, linksTo, numbered, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

test('a URL enters a crawl once, whoever finds it and however often', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://a.test/', 'http://a.test/'] });
  const [seed] = await crawl.admit();
  await crawl.record(seed, { parsed: linksTo('http://a.test/x', 'http://a.test/x', 'http://a.test/') });
  const [x] = await crawl.admit();
  await crawl.record(x, { parsed: linksTo('http://a.test/', 'http://a.test/x') });
  expect(await crawl.urls()).toEqual(['http://a.test/', 'http://a.test/x']);
  expect(await crawl.page('http://a.test/x')).toMatchObject({ depth: 1, seed: false });
});

test('the same URL in two crawls is two pages', async () => {
  const [one, other] = await atOnce(2, () => startCrawl(db(), { seeds: ['http://a.test/'] }));
  expect(await one?.urls()).toEqual(['http://a.test/']);
  expect(await other?.urls()).toEqual(['http://a.test/']);
});

test('20 pages with the same 500 links in different order are recorded at once without a deadlock', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(20));
  const pages = await crawl.admit();
  const targets = [...numbered(250, 'b.a.test'), ...numbered(250, 'c.a.test')];
  await atOnce(20, (n) => {
    const from = n * 25;
    const turned = [...targets.slice(from), ...targets.slice(0, from)];
    return crawl.record(pages[n], { parsed: linksTo(...(n % 2 ? turned : turned.reverse())) });
  });
  expect(await crawl.statuses()).toEqual({ Fetched: 20, Pending: 500 });
  expect(await crawl.urls()).toEqual([...numbered(20), ...targets].sort());
});

test('pages that all link to each other are recorded at once without a deadlock', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(20));
  const pages = await crawl.admit();
  await atOnce(20, (n) => crawl.record(pages[n], { parsed: linksTo(...numbered(20)) }));
  expect(await crawl.statuses()).toEqual({ Fetched: 20 });
});
