import { expect, test } from 'vitest';
import { admitDue, findStalled } from '../../src/storage/frontier/sweep.ts';
import { deferWithoutAttempt } from '../../src/storage/pages/defer-page.ts';
import { touchPage } from '../../src/storage/pages/touch-page.ts';
import { countPages } from '../../src/storage/reports/counts.ts';
import { failure, giveOrder, HOUR_MS, inOneHour, numbered, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();
const MINUTE_MS = 60_000;

test('a sweep admits pages for which there is room, in every domain', async () => {
  const crawl = await startCrawl(db(), { window: 2 });
  await crawl.add(...numbered(3, 'a.test'), ...numbered(3, 'b.test'));
  expect(await admitDue(db(), crawl.id, crawl.settings, 'sweep 1')).toHaveLength(4);
});

test('a sweep admits no more pages than it may, and each domain gets its share', async () => {
  const crawl = await startCrawl(db(), { window: 8 });
  await crawl.add(...numbered(8, 'a.test'), ...numbered(8, 'b.test'));
  const admitted = await admitDue(db(), crawl.id, crawl.settings, 'a sweep of four', { maxAdmitted: 4 });
  expect(admitted.map(({ domain }) => domain).toSorted()).toEqual(['a.test', 'a.test', 'b.test', 'b.test']);
});

test('untouched pages are started again if their workflow is gone, and left alone if it runs', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(2));
  const [gone, running] = await crawl.admit();
  const look = () => findStalled(db(), crawl.id, async ({ pageId }) => pageId === running?.pageId);
  expect(await look()).toEqual([]);
  await crawl.letTimePass(2 * MINUTE_MS);
  expect(await look()).toEqual([gone]);

  // It was just started again, so it is not started once more.
  expect(await look()).toEqual([]);
  await crawl.letTimePass(2 * MINUTE_MS);
  const asked: string[] = [];
  await findStalled(db(), crawl.id, async ({ pageId }) => {
    asked.push(pageId);
    return false;
  });
  expect(asked).toEqual([gone?.pageId]);
});

test('a touched page is not checked until its quiet time has passed', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  await touchPage(db(), page.pageId, 10 * MINUTE_MS);
  await crawl.letTimePass(9 * MINUTE_MS);
  expect(await findStalled(db(), crawl.id, async () => false)).toEqual([]);
  await crawl.letTimePass(2 * MINUTE_MS);
  expect(await findStalled(db(), crawl.id, async () => false)).toEqual([page]);
});

test('a sleeping page is checked only after its wait, and is restarted with its attempts and its time', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  await crawl.record(page, { report: failure(), retryAt: inOneHour() });
  await crawl.letTimePass(HOUR_MS);
  expect(await findStalled(db(), crawl.id, async () => false)).toEqual([]);
  await crawl.letTimePass(2 * MINUTE_MS);
  const [stalled] = await findStalled(db(), crawl.id, async () => false);
  expect(stalled).toMatchObject({ pageId: page.pageId, attempts: 1 });
  expect(stalled?.nextAt).toBeLessThan(Date.now());
});

test('the check for stalled pages does not wait for a page that is being recorded', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  await crawl.letTimePass(2 * MINUTE_MS);
  await db().$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM pages WHERE id = ${BigInt(page.pageId)} FOR UPDATE`;
    expect(await findStalled(db(), crawl.id, async () => true)).toEqual([]);
  });
});

test('touching a sleeping page makes it Queued and clears its reason', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  await deferWithoutAttempt(db(), crawl.settings, page.pageId, { until: inOneHour(), reason: 'robots.txt' });
  expect(await touchPage(db(), page.pageId, MINUTE_MS)).toEqual({ continues: true });
  expect(await crawl.page(page.url)).toMatchObject({ status: 'Queued', nextAttemptAt: null, reason: null });
});

test('touching a page returns whether it still has work to do', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(2));
  const [done, open] = await crawl.admit();
  await crawl.record(done);
  expect(await touchPage(db(), done?.pageId ?? '', MINUTE_MS)).toEqual({
    continues: false,
    crawlOver: false,
  });
  expect(await touchPage(db(), '999999999', MINUTE_MS)).toEqual({ continues: false, crawlOver: false });
  await giveOrder(db(), crawl.id, 'cancel');
  expect(await touchPage(db(), open?.pageId ?? '', MINUTE_MS)).toEqual({ continues: false, crawlOver: true });
});

test('found is the sum of all statuses', async () => {
  const crawl = await startCrawl(db(), { window: 3 });
  await crawl.add(...numbered(6));
  const [one, two] = await crawl.admit();
  await crawl.record(one);
  await crawl.record(two, { report: failure(), retryAt: inOneHour() });
  expect(await countPages(db(), crawl.id)).toEqual({
    pages: { Fetched: 1, Waiting: 1, Queued: 1, Pending: 3 },
    found: 6,
  });
});
