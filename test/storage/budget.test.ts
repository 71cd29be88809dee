import { expect, test } from 'vitest';
import { type FinalStatus, OUTCOMES } from '../../src/core/outcome.ts';
import { cancelIdlePages } from '../../src/storage/frontier/cancel.ts';
import { cancelBeyondBudget, hasNoAdmittedPages } from '../../src/storage/frontier/sweep.ts';
import { closePage } from '../../src/storage/pages/record-attempt.ts';
import { failure, inARace, inOneHour, numbered, redirectTo, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

test('20 admissions at once never reserve more than max-pages', async () => {
  const crawl = await startCrawl(db(), { maxPages: 10 });
  for (const host of ['a.test', 'b.test', 'c.test', 'd.test']) await crawl.add(...numbered(20, host));
  const admitted = (await inARace(db(), 20, () => crawl.admit())).flat();
  expect(admitted).toHaveLength(10);
  expect(await crawl.reserved()).toBe(10);
  expect(await crawl.statuses()).toEqual({ Queued: 10, Pending: 70 });
});

test('concurrent admissions and endings keep the reservation count correct', async () => {
  const crawl = await startCrawl(db(), { maxPages: 30, window: 50 });
  await crawl.add(...numbered(60, 'a.test'), ...numbered(60, 'b.test'));
  const pages = await crawl.admit();
  expect(pages).toHaveLength(30);
  await inARace<unknown>(
    db(),
    20,
    (n) => (n < 15 ? crawl.record(pages[n], { report: failure() }) : crawl.admit()),
    (tx) => tx.$queryRaw`SELECT 1 FROM crawls WHERE id = ${crawl.id} FOR NO KEY UPDATE`,
  );
  const { Queued = 0, Failed } = await crawl.statuses();
  expect(Failed).toBe(15);
  expect(await crawl.reserved()).toBe(Queued);
  await crawl.admit();
  expect(await crawl.reserved()).toBe(30);
});

test('a crawl without max-pages reserves nothing', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(2));
  const [page] = await crawl.admit();
  await crawl.record(page, { report: failure() });
  expect(await crawl.reserved()).toBe(0);
});

test('a fetched page uses up its reservation, and a waiting page keeps it', async () => {
  const crawl = await startCrawl(db(), { maxPages: 3 });
  await crawl.add(...numbered(2));
  const [fetched, waiting] = await crawl.admit();
  await crawl.record(fetched);
  await crawl.record(waiting, { report: failure(), retryAt: inOneHour() });
  expect(await crawl.statuses()).toEqual({ Fetched: 1, Waiting: 1 });
  expect(await crawl.reserved()).toBe(2);
});

test.each(OUTCOMES.filter((outcome) => outcome !== 'Success'))(
  '%s returns its reservation',
  async (outcome) => {
    const crawl = await startCrawl(db(), { maxPages: 1 });
    const page = await crawl.admitted('http://a.test/');
    await crawl.record(page, { report: failure(outcome) });
    expect(await crawl.reserved()).toBe(0);
  },
);

test('a redirect returns its reservation, so that its target can be fetched', async () => {
  const crawl = await startCrawl(db(), { maxPages: 1 });
  const page = await crawl.admitted('http://a.test/');
  await crawl.record(page, { report: redirectTo('http://a.test/new') });
  expect((await crawl.admit()).map(({ url }) => url)).toEqual(['http://a.test/new']);
});

test.each<FinalStatus>(['Cancelled', 'Failed'])('a page ended as %s gives its page back', async (status) => {
  const crawl = await startCrawl(db(), { maxPages: 2 });
  await crawl.add(...numbered(2));
  const [queued] = await crawl.admit();
  await closePage(db(), queued?.pageId ?? '', { status, reason: 'over' });
  expect(await crawl.reserved()).toBe(1);
});

test('a page that was never admitted returns nothing', async () => {
  const crawl = await startCrawl(db(), { maxPages: 1 });
  await crawl.add(...numbered(2));
  await crawl.admit();
  const pending = (await crawl.pages()).find(({ status }) => status === 'Pending');
  await closePage(db(), String(pending?.id), { status: 'Cancelled', reason: 'over' });
  expect(await crawl.reserved()).toBe(1);
});

test('pages that are cancelled with their crawl return their reservations', async () => {
  const crawl = await startCrawl(db(), { maxPages: 5 });
  await crawl.add(...numbered(8));
  const [fetched] = await crawl.admit();
  await crawl.record(fetched);
  await cancelIdlePages(db(), crawl.id, async () => false);
  expect(await crawl.reserved()).toBe(1);
});

test('the rest is cancelled when the budget is spent and no page is in progress, not before', async () => {
  const crawl = await startCrawl(db(), { maxPages: 2 });
  await crawl.add(...numbered(5));
  const [one, two] = await crawl.admit();

  await crawl.record(one);
  await cancelBeyondBudget(db(), crawl.id);
  expect(await crawl.statuses()).toEqual({ Fetched: 1, Queued: 1, Pending: 3 });

  await crawl.record(two, { report: failure(), retryAt: inOneHour() });
  expect(await hasNoAdmittedPages(db(), crawl.id)).toBe(false);
  await cancelBeyondBudget(db(), crawl.id);
  expect(await crawl.statuses()).toEqual({ Fetched: 1, Waiting: 1, Pending: 3 });

  await crawl.record(two, { attempt: 2 });
  expect(await hasNoAdmittedPages(db(), crawl.id)).toBe(true);
  await cancelBeyondBudget(db(), crawl.id);
  expect(await crawl.statuses()).toEqual({ Fetched: 2, Cancelled: 3 });
  const cancelled = (await crawl.pages()).filter(({ status }) => status === 'Cancelled');
  for (const { reason } of cancelled) expect(reason).toMatch(/^budget\b/);
});

test('nothing is cancelled while some budget is left, or if there is no limit', async () => {
  const crawls = [await startCrawl(db(), { maxPages: 2 }), await startCrawl(db())];
  for (const crawl of crawls) {
    const page = await crawl.admitted('http://a.test/');
    await crawl.record(page);
    await crawl.add(...numbered(3));
    await cancelBeyondBudget(db(), crawl.id);
    expect(await crawl.statuses()).toEqual({ Fetched: 1, Pending: 3 });
  }
});
