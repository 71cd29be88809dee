import { expect, test } from 'vitest';
import { startCancelling } from '../../src/storage/frontier/cancel.ts';
import { admitDue, countPages, findStalled } from '../../src/storage/frontier/sweep.ts';
import { deferWithoutAttempt } from '../../src/storage/pages/defer-page.ts';
import { touchPage } from '../../src/storage/pages/touch-page.ts';
import { failure, HOUR_MS, inOneHour, numbered, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();
const MINUTE_MS = 60_000;

test('a sweep admits pages for which there is room, in every domain', async () => {
  const crawl = await startCrawl(db(), { window: 2 });
  await crawl.add(...numbered(3, 'a.test'), ...numbered(3, 'b.test'));
  expect(await admitDue(db(), crawl.id, crawl.settings, 'sweep 1')).toHaveLength(4);
});

test('pages without a sign of life whose workflow is gone are to be started again; those that run are left alone', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(2));
  const [gone, running] = await crawl.admit();
  const look = () => findStalled(db(), crawl.id, async ({ pageId }) => pageId === running?.pageId);
  expect(await look()).toEqual([]);
  await crawl.letTimePass(2 * MINUTE_MS);
  expect(await look()).toEqual([gone]);

  // Just started again: not at once once more.
  expect(await look()).toEqual([]);
  await crawl.letTimePass(2 * MINUTE_MS);
  const asked: string[] = [];
  await findStalled(db(), crawl.id, async ({ pageId }) => {
    asked.push(pageId);
    return false;
  });
  expect(asked).toEqual([gone?.pageId]);
});

test('a page that gave a sign of life is not asked after until it has been quiet for as long as it said', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.underWay('http://a.test/');
  await touchPage(db(), page.pageId, 10 * MINUTE_MS);
  await crawl.letTimePass(9 * MINUTE_MS);
  expect(await findStalled(db(), crawl.id, async () => false)).toEqual([]);
  await crawl.letTimePass(2 * MINUTE_MS);
  expect(await findStalled(db(), crawl.id, async () => false)).toEqual([page]);
});

test('a page asleep is asked after only when its sleep is over, and wakes with its attempts and its time', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.underWay('http://a.test/');
  await crawl.record(page, { report: failure(), retryAt: inOneHour() });
  await crawl.letTimePass(HOUR_MS);
  expect(await findStalled(db(), crawl.id, async () => false)).toEqual([]);
  await crawl.letTimePass(2 * MINUTE_MS);
  const [stalled] = await findStalled(db(), crawl.id, async () => false);
  expect(stalled).toMatchObject({ pageId: page.pageId, attempts: 1 });
  expect(stalled?.nextAt).toBeLessThan(Date.now());
});

test('a look for stalled pages does not wait for a page that is being recorded', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.underWay('http://a.test/');
  await crawl.letTimePass(2 * MINUTE_MS);
  await db().$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM pages WHERE id = ${BigInt(page.pageId)} FOR UPDATE`;
    expect(await findStalled(db(), crawl.id, async () => true)).toEqual([]);
  });
});

test('a sign of life wakes a page asleep and clears what it waited for', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.underWay('http://a.test/');
  await deferWithoutAttempt(db(), crawl.settings, page.pageId, { until: inOneHour(), reason: 'robots.txt' });
  expect(await touchPage(db(), page.pageId, MINUTE_MS)).toEqual({ goesOn: true });
  expect(await crawl.page(page.url)).toMatchObject({ status: 'Queued', nextAttemptAt: null, reason: null });
});

test('a page hears whether it still has anything to do', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(2));
  const [done, open] = await crawl.admit();
  await crawl.record(done);
  expect(await touchPage(db(), done?.pageId ?? '', MINUTE_MS)).toEqual({ goesOn: false, crawlOver: false });
  expect(await touchPage(db(), '999999999', MINUTE_MS)).toEqual({ goesOn: false, crawlOver: false });
  await startCancelling(db(), crawl.id);
  expect(await touchPage(db(), open?.pageId ?? '', MINUTE_MS)).toEqual({ goesOn: false, crawlOver: true });
});

test('found is the sum over the statuses', async () => {
  const crawl = await startCrawl(db(), { window: 3 });
  await crawl.add(...numbered(6));
  const [one, two] = await crawl.admit();
  await crawl.record(one);
  await crawl.record(two, { report: failure(), retryAt: inOneHour() });
  expect(await countPages(db(), crawl.id)).toEqual({
    pages: { Fetched: 1, Waiting: 1, Queued: 1, Pending: 3 },
    found: 6,
    open: 5,
  });
});
