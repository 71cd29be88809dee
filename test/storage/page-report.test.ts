import { describe, expect, it, test } from 'vitest';
import { readPage } from '../../src/storage/reports/page-report.ts';
import { SETTINGS, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

const RULES = { ...SETTINGS.urls, sortQuery: true, stripTracking: true };

describe('a page is found by its URL', () => {
  it('normalised by each crawl’s own rules, and as it was sent', async () => {
    const url = 'http://named.test/?b=2&a=1&utm_source=x';
    const sorted = await startCrawl(db(), { urls: RULES, seeds: ['http://named.test/?a=1&b=2'] });
    const literal = await startCrawl(db(), { urls: RULES, seeds: [url] });
    const report = await readPage(db(), url);
    expect(report).toMatchObject({ crawl: { id: literal.id }, alsoIn: [sorted.id], page: { url } });
    expect(await readPage(db(), url, sorted.id)).toMatchObject({
      page: { url: 'http://named.test/?a=1&b=2' },
    });
    expect(await readPage(db(), 'http://named.test/?c=3')).toBeNull();
  });
});

test('a chain of redirects can be read from any of its pages, and a loop ends', async () => {
  const urls = ['a', 'b', 'c'].map((name) => `http://chain.test/${name}`);
  const crawl = await startCrawl(db(), { seeds: urls });
  const [a = '', b = '', c = ''] = urls;
  const redirect = (from: string, to: string) =>
    db().page.updateMany({ where: { crawlId: crawl.id, url: from }, data: { redirectTo: to } });
  await redirect(a, b);
  await redirect(b, c);
  const chainOf = async (url: string) => (await readPage(db(), url, crawl.id))?.chain;
  expect(await chainOf(a)).toEqual([
    { url: b, step: 1 },
    { url: c, step: 2 },
  ]);
  expect(await chainOf(b)).toEqual([
    { url: a, step: -1 },
    { url: c, step: 1 },
  ]);
  expect(await chainOf(c)).toEqual([
    { url: a, step: -2 },
    { url: b, step: -1 },
  ]);
  await redirect(c, a);
  expect((await chainOf(b))?.map(({ url }) => url).sort()).toEqual([a, c]);
});

test('a chain has one more page than the redirects that the crawl follows', async () => {
  const urls = Array.from({ length: 12 }, (_, n) => `http://long.test/${n}`);
  const crawl = await startCrawl(db(), { seeds: urls, maxRedirects: 8 });
  for (const [n, url] of urls.entries())
    await db().page.updateMany({
      where: { crawlId: crawl.id, url },
      data: { redirectTo: urls[n + 1] ?? null },
    });
  const stepsFrom = async (url = '') => (await readPage(db(), url, crawl.id))?.chain.map(({ step }) => step);
  expect(await stepsFrom(urls[0])).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  expect(await stepsFrom(urls[11])).toEqual([-9, -8, -7, -6, -5, -4, -3, -2, -1]);
});

test('a report includes what keeps a page from being admitted', async () => {
  const url = 'http://kept.test/';
  const crawl = await startCrawl(db(), {
    seeds: [url],
    maxPages: 10,
    warmup: { pending: 7, atMostMs: 60_000 },
  });
  await crawl.admit();
  const { createdAt } = await db().crawl.findUniqueOrThrow({ where: { id: crawl.id } });
  const until = new Date(createdAt.getTime() + 60_000);
  expect((await readPage(db(), url, crawl.id))?.crawl).toMatchObject({
    warmup: { pending: 7, until },
    budget: { maxPages: 10, reserved: 1 },
  });
  await db().crawl.update({ where: { id: crawl.id }, data: { warmedUp: true, maxPages: null } });
  expect((await readPage(db(), url, crawl.id))?.crawl).toMatchObject({ warmup: null, budget: null });
});
