import { expect, test } from 'vitest';
import { admitDue } from '../../src/storage/frontier/sweep.ts';
import { deferWithoutAttempt } from '../../src/storage/pages/defer-page.ts';
import { touchPage } from '../../src/storage/pages/touch-page.ts';
import { atOnce, failure, HOUR_MS, inOneHour, numbered, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

test('a long wait leaves the window, and another page is admitted', async () => {
  const crawl = await startCrawl(db(), { window: 1 });
  await crawl.add(...numbered(2));
  const [page] = await crawl.admit();
  const retryAt = inOneHour();
  expect(await crawl.record(page, { report: failure(), retryAt })).toEqual({
    continues: true,
    domains: ['a.test'],
    became: { url: page?.url, domain: 'a.test', status: 'Waiting' },
  });
  expect(await crawl.page(page?.url ?? '')).toMatchObject({
    status: 'Waiting',
    attempts: 1,
    nextAttemptAt: new Date(retryAt),
    reason: 'attempt 1 of 3: no luck',
  });
  expect(await crawl.admit()).toHaveLength(1);
});

test('a short wait stays in the window', async () => {
  const crawl = await startCrawl(db(), { window: 1 });
  await crawl.add(...numbered(2));
  const [page] = await crawl.admit();
  const { continues } = await crawl.record(page, { report: failure(), retryAt: Date.now() + 30_000 });
  expect(continues).toBe(true);
  expect(await crawl.page(page?.url ?? '')).toMatchObject({ status: 'Queued', attempts: 1 });
  expect(await crawl.admit()).toEqual([]);
});

test('a deferral without an attempt does not count as one', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  const until = inOneHour();
  const wait = { until, reason: 'robots.txt is unavailable' };
  expect(await deferWithoutAttempt(db(), crawl.settings, page.pageId, wait)).toEqual({
    continues: true,
    domains: ['a.test'],
    became: { url: page?.url, domain: 'a.test', status: 'Waiting' },
  });
  expect(await crawl.page(page.url)).toMatchObject({
    status: 'Waiting',
    attempts: 0,
    nextAttemptAt: new Date(until),
  });
});

test('100 pages that wait for their retry do not stop their domain', async () => {
  const crawl = await startCrawl(db(), { window: 100 });
  await crawl.add(...numbered(150));
  const pages = await crawl.admit();
  expect(pages).toHaveLength(100);
  await atOnce(100, (n) => crawl.record(pages[n], { report: failure(), retryAt: inOneHour() }));
  expect(await crawl.statuses()).toEqual({ Waiting: 100, Pending: 50 });
  expect(await crawl.admit()).toHaveLength(50);
});

test('if too many pages of its domain are waiting, the workflow ends and the row becomes Pending with its attempts', async () => {
  const crawl = await startCrawl(db(), { maxWaiting: 2, maxPages: 100 });
  await crawl.add(...numbered(4));
  const [one, two, three, four] = await crawl.admit();
  const elsewhere = await crawl.admitted('http://b.test/');
  const retryAt = inOneHour();
  const continues = [];
  for (const page of [one, two, three, elsewhere]) {
    continues.push((await crawl.record(page, { report: failure(), retryAt })).continues);
  }
  expect(continues).toEqual([true, true, false, true]);
  expect(await crawl.page(three?.url ?? '')).toMatchObject({
    status: 'Pending',
    attempts: 1,
    nextAttemptAt: new Date(retryAt),
  });
  expect(await crawl.reserved()).toBe(4);

  const wait = { until: retryAt, reason: 'robots.txt is unavailable' };
  const { continues: fourGoesOn } = await deferWithoutAttempt(db(), crawl.settings, four?.pageId ?? '', wait);
  expect(fourGoesOn).toBe(false);
  expect(await crawl.page(four?.url ?? '')).toMatchObject({ status: 'Pending', attempts: 0 });
});

test('a deferral recorded twice is one deferral: a page does not count itself among those that wait', async () => {
  const crawl = await startCrawl(db(), { maxWaiting: 1 });
  const page = await crawl.admitted('http://a.test/');
  const wait = { until: inOneHour(), reason: 'robots.txt is unavailable' };
  const both = [
    await deferWithoutAttempt(db(), crawl.settings, page.pageId, wait),
    await deferWithoutAttempt(db(), crawl.settings, page.pageId, wait),
  ];
  expect(both.map(({ continues }) => continues)).toEqual([true, true]);
  expect(await crawl.page(page.url)).toMatchObject({ status: 'Waiting' });
});

test('a deferred row is admitted when it is due, not before, with the attempts it has used', async () => {
  const crawl = await startCrawl(db(), { maxWaiting: 0 });
  const page = await crawl.admitted('http://a.test/');
  await crawl.record(page, { report: failure(), retryAt: inOneHour() });
  expect(await admitDue(db(), crawl.id, crawl.settings, 'early')).toEqual([]);
  await crawl.letTimePass(2 * HOUR_MS);
  expect(await admitDue(db(), crawl.id, crawl.settings, 'due')).toEqual([
    { ...page, attempts: 1, nextAt: null },
  ]);
});

test('a page that was admitted just now is not written again before it asks for a slot', async () => {
  const crawl = await startCrawl(db());
  const { pageId, url } = await crawl.admitted('http://a.test/');
  const admitted = await crawl.page(url);
  expect(await touchPage(db(), pageId, 60_000)).toEqual({ continues: true });
  expect(await crawl.page(url)).toEqual(admitted);
  await crawl.letTimePass(30_000);
  expect(await touchPage(db(), pageId, 60_000)).toEqual({ continues: true });
  expect((await crawl.page(url)).checkAt?.getTime()).toBeGreaterThan(Date.now() + 50_000);
});

test('a page whose wait is over continues even if the window is full', async () => {
  const crawl = await startCrawl(db(), { window: 1 });
  await crawl.add(...numbered(3));
  const [page] = await crawl.admit();
  await crawl.record(page, { report: failure(), retryAt: inOneHour() });
  await crawl.admit();
  expect(await touchPage(db(), page?.pageId ?? '', 60_000)).toEqual({ continues: true });
  expect(await crawl.statuses()).toEqual({ Queued: 2, Pending: 1 });
  expect(await crawl.admit()).toEqual([]);
});
