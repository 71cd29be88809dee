import { randomUUID } from 'node:crypto';
import { describe, expect, it, test } from 'vitest';
import type { OperatorOrder } from '../../src/core/order.ts';
import type { CrawlSettings } from '../../src/core/settings.ts';
import { foldChanges } from '../../src/storage/counts.ts';
import { endCrawl, readCrawl } from '../../src/storage/crawls.ts';
import {
  previewRetry,
  type RetrySelection,
  readRetryProgress,
  retryBatch,
} from '../../src/storage/frontier/retry.ts';
import { endIfDone } from '../../src/storage/frontier/sweep.ts';
import { listOrders } from '../../src/storage/orders.ts';
import { failure, giveOrder, numbered, startCrawl, type TestCrawl, useDatabase } from './support.ts';

const db = useDatabase();

function newOrder(): OperatorOrder {
  return { id: randomUUID(), kind: 'retry', origin: { channel: 'cli', by: 'anna', reason: null } };
}

const retry = (crawl: TestCrawl, order: OperatorOrder, selection: RetrySelection = {}) =>
  retryBatch(db(), crawl.id, order, selection, 0);

/** A crawl whose pages have failed: two with 503 and two that timed out, on two hosts. */
async function failedCrawl(settings: Partial<CrawlSettings> = {}): Promise<TestCrawl> {
  const crawl = await startCrawl(db(), { window: 10, ...settings });
  await crawl.add(...numbered(2, 'a.test'), ...numbered(2, 'b.test'));
  for (const page of await crawl.admit()) {
    const is503 = page.url.endsWith('1');
    const report = is503
      ? { ...failure('Blocked5xx'), errorKind: 'status', statusCode: 503, error: 'Status 503.' }
      : { ...failure('Timeout'), errorKind: 'timeout', error: 'Too slow.' };
    await crawl.record(page, { report });
  }
  return crawl;
}

describe('the failed pages of a crawl', () => {
  it.each<[RetrySelection, string[]]>([
    [{}, ['http://a.test/1', 'http://b.test/1', 'http://a.test/0', 'http://b.test/0']],
    [{ errorKind: 'status' }, ['http://a.test/1', 'http://b.test/1']],
    [{ errorKind: 'status', statusCode: 503, domain: 'b.test' }, ['http://b.test/1']],
    [{ statusCode: null, domain: 'a.test' }, ['http://a.test/0']],
    [{ errorKind: 'status', statusCode: 500 }, []],
    [{ errorKind: null }, []],
  ])('are selected by cause and domain: %j', async (selection, urls) => {
    const crawl = await failedCrawl();
    const preview = await previewRetry(db(), crawl.id, selection);
    expect(preview.pages).toBe(urls.length);
    expect(preview.samples.map(({ url }) => url).sort()).toEqual(urls.toSorted());
    await foldChanges(db(), crawl.id);
    expect((await previewRetry(db(), crawl.id, selection)).pages).toBe(urls.length);

    expect(await retry(crawl, newOrder(), selection)).toMatchObject({ kind: 'queued', pages: urls.length });
    const pending = await db().page.findMany({ where: { crawlId: crawl.id, status: 'Pending' } });
    expect(pending.map(({ url }) => url).sort()).toEqual(urls.toSorted());
    expect((await previewRetry(db(), crawl.id, selection)).pages).toBe(0);
  });

  it('return with their history, which does not count towards the limit', async () => {
    const crawl = await failedCrawl();
    const order = newOrder();
    await retry(crawl, order, { errorKind: 'status', domain: 'a.test' });
    expect(await crawl.page('http://a.test/1')).toMatchObject({
      ...{ status: 'Pending', attempts: 1, attemptsBefore: 1, retryId: order.id },
      ...{ errorKind: null, statusCode: null, reason: null, failedAt: null },
    });
    const [page] = await crawl.admit();
    expect(page).toMatchObject({ attempts: 1, attemptsBefore: 1 });
    await crawl.record(page, { attempt: 2 });
    const attempts = await db().pageCrawl.findMany({ where: { pageId: BigInt(page?.pageId ?? 0) } });
    expect(attempts.map(({ outcome }) => outcome).sort()).toEqual(['Blocked5xx', 'Success']);
  });

  it('that fail again are not retried by the same order, and its progress can be read', async () => {
    const crawl = await failedCrawl();
    const order = newOrder();
    await retry(crawl, order);
    expect(await readRetryProgress(db(), order.id)).toMatchObject({
      pages: 4,
      done: 0,
      byStatus: { Pending: 4 },
    });
    const [first, second] = await crawl.admit();
    await crawl.record(first, { attempt: 2, report: failure() });
    await crawl.record(second, { attempt: 2 });
    expect(await retry(crawl, order)).toMatchObject({ pages: 0 });
    expect(await readRetryProgress(db(), order.id)).toMatchObject({
      pages: 4,
      done: 2,
      byStatus: { Failed: 1, Fetched: 1, Queued: 2 },
    });
    expect(await listOrders(db(), { crawlId: crawl.id }, 10)).toMatchObject([
      { kind: 'retry', by: 'anna', effect: '4 failed pages queued again' },
    ]);
  });
});

test('a crawl that has ended is open again, and one without such pages stays as it is', async () => {
  const crawl = await failedCrawl();
  await endCrawl(db(), crawl.id, 'Cancelled', 'cancelled on request');
  await retry(crawl, newOrder(), { errorKind: 'dns' });
  expect((await readCrawl(db(), crawl.id)).status).toBe('Cancelled');
  await retry(crawl, newOrder());
  expect(await db().crawl.findUniqueOrThrow({ where: { id: crawl.id } })).toMatchObject({
    ...{ status: 'Running', finishedAt: null, reason: null },
  });
});

test('a paused crawl stays paused', async () => {
  const crawl = await failedCrawl();
  await giveOrder(db(), crawl.id, 'pause');
  await retry(crawl, newOrder());
  expect((await readCrawl(db(), crawl.id)).status).toBe('Paused');
});

test('a crawl that is being cancelled, has used its budget or does not exist refuses', async () => {
  const crawl = await failedCrawl();
  await giveOrder(db(), crawl.id, 'cancel');
  expect(await retry(crawl, newOrder())).toEqual({ kind: 'cancelling' });
  expect(await retryBatch(db(), 'nobody', newOrder(), {}, 0)).toEqual({ kind: 'unknown-crawl' });
  const frugal = await failedCrawl({ maxPages: 5 });
  await db().crawl.update({ where: { id: frugal.id }, data: { pagesReserved: 5 } });
  expect(await retry(frugal, newOrder())).toEqual({ kind: 'budget-used' });
  expect(await frugal.statuses()).toEqual({ Failed: 4 });
});

test('a crawl does not end while pages are being queued again', async () => {
  const crawl = await failedCrawl();
  let ending: Promise<boolean> = Promise.resolve(false);
  await db().inTransaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM crawls WHERE id = ${crawl.id} FOR NO KEY UPDATE`;
    ending = endIfDone(db(), crawl.id);
    const isWaiting = async () =>
      (await db().$queryRaw<unknown[]>`SELECT 1 FROM pg_locks WHERE NOT granted`).length;
    await expect.poll(isWaiting).toBeGreaterThan(0);
    await tx.$executeRaw`UPDATE pages SET status = 'Pending' WHERE crawl_id = ${crawl.id}`;
  });
  expect(await ending).toBe(false);
  expect((await readCrawl(db(), crawl.id)).status).toBe('Running');
});
