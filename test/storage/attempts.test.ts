import { describe, expect, test } from 'vitest';
import { FINAL_STATUSES, type FinalStatus } from '../../src/core/outcome.ts';
import { cancelIdlePages } from '../../src/storage/frontier/cancel.ts';
import { admitDue, cancelBeyondBudget, findStalled } from '../../src/storage/frontier/sweep.ts';
import { deferWithoutAttempt } from '../../src/storage/pages/defer-page.ts';
import { closePage } from '../../src/storage/pages/record-attempt.ts';
import { touchPage } from '../../src/storage/pages/touch-page.ts';
import {
  failure,
  HOUR_MS,
  inARace,
  inOneHour,
  linksTo,
  startCrawl,
  success,
  type TestCrawl,
  useDatabase,
  type Visited,
} from './support.ts';

const db = useDatabase();

const request = (leaseId: string, startedAt: number) => ({
  leaseId,
  domain: 'a.test',
  url: 'http://a.test/',
  startedAt,
  startedErrorMs: 2,
  minGapMs: 1_000,
  allowedBy: null,
  statusCode: 200,
  durationMs: 12,
  sentTo: {
    address: '2001:db8::7',
    block: '2001:db8::/64',
    at: startedAt - 3,
    limit: { gapMs: 250, maxOpen: 8 },
  },
});

async function written(crawl: TestCrawl) {
  const ofCrawl = { page: { crawlId: crawl.id } };
  return {
    pages: await crawl.pages(),
    attempts: await db().pageCrawl.findMany({ where: ofCrawl }),
    requests: await db().request.findMany({ where: { crawlId: crawl.id } }),
    links: await db().link.findMany({ where: ofCrawl, orderBy: { url: 'asc' } }),
    reserved: await crawl.reserved(),
  };
}

test('page, attempt, request and links are written together', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  const startedAt = Date.now() - 50;
  const report = { ...success(), request: request(`${crawl.id}-lease`, startedAt) };
  const parsed = { ...linksTo('http://a.test/x'), title: 'Front', language: 'en' };
  await crawl.record(page, { report, parsed, slotWaitMs: 7 });

  const { attempts, requests, links } = await written(crawl);
  expect(await crawl.page('http://a.test/')).toMatchObject({
    status: 'Fetched',
    attempts: 1,
    title: 'Front',
    language: 'en',
    contentHash: 'c0ffee',
    linksFound: 1,
    fetchedAt: new Date(report.finishedAt),
    nextAttemptAt: null,
  });
  expect(attempts).toMatchObject([
    { attempt: 1, outcome: 'Success', slotWaitMs: 7, startedAt: new Date(startedAt) },
  ]);
  expect(requests).toMatchObject([{ purpose: 'page', minGapMs: 1_000, startedAt: new Date(startedAt) }]);
  expect(links).toMatchObject([{ url: 'http://a.test/x' }]);
});

describe('recording an attempt twice changes nothing the second time', () => {
  const cases = {
    'a success with links': () => ({ parsed: linksTo('http://a.test/x', 'http://b.test/') }),
    'a last failure': () => ({ report: failure() }),
    'a failure with a retry in an hour': () => ({ report: failure(), retryAt: inOneHour() }),
    'a failure with a retry in a second': () => ({ report: failure(), retryAt: Date.now() + 1_000 }),
  };
  test.each(Object.entries(cases))('%s', async (_name, makeAttempt) => {
    const crawl = await startCrawl(db(), { maxPages: 5 });
    const page = await crawl.admitted('http://a.test/');
    const attempt = makeAttempt();
    const first = await crawl.record(page, attempt);
    const before = await written(crawl);
    const second = await crawl.record(page, attempt);
    expect(second.continues).toBe(first.continues);
    expect(await written(crawl)).toEqual(before);
    expect(before.attempts).toHaveLength(1);
  });

  test('even if both run at the same time', async () => {
    const crawl = await startCrawl(db(), { maxPages: 5 });
    const page = await crawl.admitted('http://a.test/');
    await inARace(db(), 10, () => crawl.record(page, { report: failure() }));
    expect(await written(crawl)).toMatchObject({ reserved: 0, attempts: [{ attempt: 1 }] });
  });
});

test('every attempt of a page is kept', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  const retryAt = inOneHour();
  await crawl.record(page, { attempt: 1, report: failure('Timeout'), retryAt });
  await crawl.record(page, { attempt: 2, report: failure('Blocked5xx'), retryAt });
  await crawl.record(page, { attempt: 3, report: success() });
  const { attempts, pages } = await written(crawl);
  expect(attempts.map(({ outcome, nextAttemptAt }) => [outcome, nextAttemptAt?.getTime() ?? null])).toEqual([
    ['Timeout', retryAt],
    ['Blocked5xx', retryAt],
    ['Success', null],
  ]);
  expect(pages).toMatchObject([{ status: 'Fetched', attempts: 3, reason: null }]);
});

describe('a final status never changes', () => {
  const events: Record<string, (crawl: TestCrawl, page: Visited) => Promise<unknown>> = {
    'a success': (crawl, page) => crawl.record(page, { attempt: 9, parsed: linksTo('http://a.test/new') }),
    'a failure to be retried': (crawl, page) =>
      crawl.record(page, { attempt: 9, report: failure(), retryAt: inOneHour() }),
    'an end': (_crawl, page) => closePage(db(), page.pageId, { status: 'Failed', reason: 'a bug' }),
    'a wait': (crawl, page) =>
      deferWithoutAttempt(db(), crawl.settings, page.pageId, { until: inOneHour(), reason: 'robots.txt' }),
    'a touch': (_crawl, page) => touchPage(db(), page.pageId, 1_000),
    'a sweep': (crawl) => admitDue(db(), crawl.id, crawl.settings, 'sweep'),
    'a look for stalled pages': (crawl) => findStalled(db(), crawl.id, async () => false),
    'a spent budget': (crawl) => cancelBeyondBudget(db(), crawl.id),
    'a cancelled crawl': (crawl) => cancelIdlePages(db(), crawl.id, async () => false),
  };
  test.each(FINAL_STATUSES)('%s stays', async (status: FinalStatus) => {
    const crawl = await startCrawl(db(), { maxPages: 1 });
    const page = await crawl.admitted('http://a.test/');
    await db().page.update({ where: { id: BigInt(page.pageId) }, data: { status } });
    await crawl.letTimePass(10 * HOUR_MS);
    const before = await written(crawl);
    for (const [name, event] of Object.entries(events)) {
      await event(crawl, page);
      expect(await written(crawl), name).toEqual(before);
    }
  });
});

test('a page that ends and is cancelled at the same time ends once and changes the budget once', async () => {
  const crawl = await startCrawl(db(), { maxPages: 5 });
  await crawl.add('http://a.test/1', 'http://a.test/2');
  const [page, other] = await crawl.admit();
  if (page === undefined) throw new Error('Nothing was admitted.');
  await inARace(db(), 2, (n) =>
    n === 0
      ? crawl.record(page, { report: failure() })
      : closePage(db(), page.pageId, { status: 'Cancelled', reason: 'cancelled' }),
  );
  expect(await crawl.reserved()).toBe(1);
  await crawl.record(other);
  expect(await crawl.reserved()).toBe(1);
});

test('an attempt at an unknown page is ignored', async () => {
  const crawl = await startCrawl(db());
  expect(await crawl.record({ pageId: '999999999' })).toEqual({ continues: false, domains: [] });
});
