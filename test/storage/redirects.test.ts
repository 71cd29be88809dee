import { expect, test } from 'vitest';
import { exportPages } from '../../src/storage/reports/export.ts';
import { inARace, linksTo, numbered, redirectTo, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

const scopeOf = async (crawlId: string) =>
  (await db().crawl.findUniqueOrThrow({ where: { id: crawlId } })).scopeHosts;

test('a redirect ends its page, and its target has the same depth and one more redirect', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://a.com/'], scope: 'site', maxDepth: 1 });
  const [seed] = await crawl.admit();
  await crawl.record(seed, { parsed: linksTo('http://a.com/old') });
  const [old] = await crawl.admit();
  const { continues, domains } = await crawl.record(old, { report: redirectTo('http://www.a.com/new') });
  expect({ continues, domains }).toEqual({ continues: false, domains: ['a.com', 'www.a.com'] });
  expect(await crawl.page('http://a.com/old')).toMatchObject({
    status: 'Redirected',
    redirectTo: 'http://www.a.com/new',
    statusCode: 301,
    reason: null,
  });
  expect(await crawl.page('http://www.a.com/new')).toMatchObject({
    status: 'Pending',
    depth: 1,
    redirectCount: 1,
    isSeed: false,
    foundOnId: BigInt(old?.pageId ?? 0),
  });
  expect(await scopeOf(crawl.id)).toEqual(['a.com']);
});

test("a seed's redirect adds its target's host to the scope", async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://old.com/'], scope: 'host' });
  const [seed] = await crawl.admit();
  await crawl.record(seed, { report: redirectTo('https://www.new.org/') });
  expect(await scopeOf(crawl.id)).toEqual(['old.com', 'www.new.org']);
  const [target] = await crawl.admit();
  await crawl.record(target, { parsed: linksTo('https://www.new.org/about', 'https://other.new.org/') });
  expect(await crawl.urls()).toEqual([
    'http://old.com/',
    'https://www.new.org/',
    'https://www.new.org/about',
  ]);
});

test('seeds that redirect to one host at the same time add it to the scope once', async () => {
  const crawl = await startCrawl(db(), { seeds: numbered(10), scope: 'host' });
  const pages = await crawl.admit();
  await inARace(db(), 10, (n) => crawl.record(pages[n], { report: redirectTo('http://b.test/') }));
  expect(await scopeOf(crawl.id)).toEqual(['a.test', 'b.test']);
  expect(await crawl.statuses()).toEqual({ Redirected: 10, Pending: 1 });
});

test('with a budget, redirects of seeds and of other pages to one target do not deadlock', async () => {
  const crawl = await startCrawl(db(), { seeds: numbered(10, 'a.com'), scope: 'site', maxPages: 50 });
  await crawl.add(...numbered(10, 'sub.a.com'));
  const pages = await crawl.admit();
  expect(pages).toHaveLength(20);
  await inARace(db(), 20, (n) => crawl.record(pages[n], { report: redirectTo('http://www.a.com/') }));
  expect(await crawl.statuses()).toEqual({ Redirected: 20, Pending: 1 });
  expect(await crawl.reserved()).toBe(0);
});

test('a target out of scope is not followed, and the page has that reason', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://a.com/'], scope: 'site' });
  const page = await crawl.admitted('http://a.com/away');
  await crawl.record(page, { report: redirectTo('http://elsewhere.org/') });
  expect(await crawl.urls()).toEqual(['http://a.com/', 'http://a.com/away']);
  expect(await crawl.page('http://a.com/away')).toMatchObject({
    status: 'Redirected',
    redirectTo: 'http://elsewhere.org/',
    reason: 'not followed: the target is out of scope',
  });
  expect(await scopeOf(crawl.id)).toEqual(['a.com']);
});

test('five redirects in a row are followed, a sixth is not', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://a.test/0'] });
  for (let hop = 0; hop <= 5; hop += 1) {
    const [page] = await crawl.admit();
    expect(page?.url).toBe(`http://a.test/${hop}`);
    await crawl.record(page, { report: redirectTo(`http://a.test/${hop + 1}`) });
  }
  expect(await crawl.statuses()).toEqual({ Redirected: 6 });
  expect(await crawl.page('http://a.test/5')).toMatchObject({
    redirectCount: 5,
    reason: 'not followed: more than 5 redirects in a row',
  });
});

test('the crawl’s limit of redirects in a row applies', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://a.test/0'], maxRedirects: 1 });
  for (let hop = 0; hop <= 1; hop += 1) {
    const [page] = await crawl.admit();
    await crawl.record(page, { report: redirectTo(`http://a.test/${hop + 1}`) });
  }
  expect(await crawl.urls()).toEqual(['http://a.test/0', 'http://a.test/1']);
  expect((await crawl.page('http://a.test/1')).reason).toBe('not followed: more than 1 redirects in a row');
});

test('a known target is not entered again, nor is a page that redirects to itself', async () => {
  const crawl = await startCrawl(db());
  const known = await crawl.admitted('http://a.test/known');
  await crawl.record(known);
  const page = await crawl.admitted('http://a.test/old');
  await crawl.record(page, { report: redirectTo('http://a.test/known') });
  const loop = await crawl.admitted('http://a.test/loop');
  await crawl.record(loop, { report: redirectTo('http://a.test/loop') });
  expect(await crawl.statuses()).toEqual({ Fetched: 1, Redirected: 2 });
  expect(await crawl.page('http://a.test/known')).toMatchObject({ redirectCount: 0 });
});

test('the page that closes a loop of redirects has that reason', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://a.test/1'] });
  for (const [from, to] of [
    [1, 2],
    [2, 3],
    [3, 1],
  ]) {
    const [page] = await crawl.admit();
    expect(page?.url).toBe(`http://a.test/${from}`);
    await crawl.record(page, { report: redirectTo(`http://a.test/${to}`) });
  }
  expect(await crawl.statuses()).toEqual({ Redirected: 3 });
  expect(await crawl.page('http://a.test/2')).toMatchObject({ reason: null });
  expect(await crawl.page('http://a.test/3')).toMatchObject({
    redirectTo: 'http://a.test/1',
    reason: 'not followed: the redirects form a loop',
  });
});

test('a chain can be read from any of its pages, also from one that was known before', async () => {
  const crawl = await startCrawl(db());
  const urls = ['a', 'b', 'c'].map((name) => `http://a.test/${name}`);
  const [a = '', b = '', c = ''] = urls;
  await crawl.record(await crawl.admitted(c));
  await crawl.record(await crawl.admitted(a), { report: redirectTo(b) });
  await crawl.record((await crawl.admit())[0], { report: redirectTo(c) });
  await crawl.record(await crawl.admitted('http://a.test/other'), { report: redirectTo(c) });
  const chain = new Map<string, unknown>();
  for await (const { url, redirect_to, redirected_from } of exportPages(db(), crawl.id))
    chain.set(url, { redirect_to, redirected_from });
  expect(chain.get(a)).toEqual({ redirect_to: b, redirected_from: [] });
  expect(chain.get(b)).toEqual({ redirect_to: c, redirected_from: [a] });
  expect(chain.get(c)).toEqual({ redirect_to: null, redirected_from: [b, 'http://a.test/other'] });
});
