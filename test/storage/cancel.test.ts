import { expect, test } from 'vitest';
import { cancelIdlePages } from '../../src/storage/frontier/cancel.ts';
import {
  atOnce,
  failure,
  giveOrder,
  inOneHour,
  linksTo,
  numbered,
  startCrawl,
  useDatabase,
} from './support.ts';

const db = useDatabase();

test('pages without a workflow are cancelled; running pages count as open and end themselves', async () => {
  const crawl = await startCrawl(db(), { window: 3 });
  await crawl.add(...numbered(5));
  const [running, gone, asleep] = await crawl.admit();
  await crawl.record(asleep, { report: failure(), retryAt: inOneHour() });
  await giveOrder(db(), crawl.id, 'cancel');
  const isRunning = async ({ pageId }: { pageId: string }) => pageId === running?.pageId;
  expect(await cancelIdlePages(db(), crawl.id, isRunning)).toBe(1);
  expect(await crawl.statuses()).toEqual({ Queued: 1, Cancelled: 4 });
  expect(await crawl.page(gone?.url ?? '')).toMatchObject({
    reason: 'the crawl was cancelled',
    nextAttemptAt: null,
  });
  expect(await cancelIdlePages(db(), crawl.id, async () => false)).toBe(0);
  expect(await crawl.statuses()).toEqual({ Cancelled: 5 });
});

test('open pages beyond those that one call checks still count as open', async () => {
  const crawl = await startCrawl(db(), { window: 300 });
  for (const host of ['a.test', 'b.test', 'c.test']) await crawl.add(...numbered(300, host));
  await db().page.updateMany({ where: { crawlId: crawl.id }, data: { status: 'Waiting' } });
  await giveOrder(db(), crawl.id, 'cancel');
  expect(await cancelIdlePages(db(), crawl.id, async () => false)).toBe(400);
  expect(await cancelIdlePages(db(), crawl.id, async () => false)).toBe(0);
  expect(await crawl.statuses()).toEqual({ Cancelled: 900 });
});

test('links of a page that ends while the crawl is being cancelled count as open', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  await giveOrder(db(), crawl.id, 'cancel');
  const open = await cancelIdlePages(db(), crawl.id, async () => {
    await crawl.record(page, { parsed: linksTo(...numbered(3)) });
    return false;
  });
  expect(open).toBe(3);
  expect(await cancelIdlePages(db(), crawl.id, async () => false)).toBe(0);
  expect(await crawl.statuses()).toEqual({ Fetched: 1, Cancelled: 3 });
});

test('admissions during a cancellation leave no page open', async () => {
  const crawl = await startCrawl(db(), { maxPages: 100 });
  await crawl.add(...numbered(300));
  await Promise.all([
    atOnce(10, () => crawl.admit()),
    giveOrder(db(), crawl.id, 'cancel'),
    cancelIdlePages(db(), crawl.id, async () => false),
  ]);
  expect(await cancelIdlePages(db(), crawl.id, async () => false)).toBe(0);
  expect(await crawl.admit()).toEqual([]);
  expect(await crawl.statuses()).toEqual({ Cancelled: 300 });
  expect(await crawl.reserved()).toBe(0);
});
