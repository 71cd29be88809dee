/** The counts of a crawl are those of its rows, before and after they are brought up to date. */
import { describe, expect, test } from 'vitest';
import { foldChanges } from '../../src/storage/counts.ts';
import { cancelIdlePages } from '../../src/storage/frontier/cancel.ts';
import { readCauses } from '../../src/storage/reports/causes.ts';
import { readLinkCounts, readPageCounts, readSamples } from '../../src/storage/reports/counts.ts';
import { readDomains, readProgress } from '../../src/storage/reports/progress.ts';
import {
  atOnce,
  failure,
  giveOrder,
  inOneHour,
  linksTo,
  numbered,
  startCrawl,
  type TestCrawl,
  useDatabase,
} from './support.ts';

const db = useDatabase();

/** With pages of two domains: fetched, failed for two reasons, to be retried, and pending. */
async function mixedCrawl(): Promise<TestCrawl> {
  const crawl = await startCrawl(db(), { seeds: ['http://a.test/'], scope: 'host', window: 5 });
  const [seed] = await crawl.admit();
  const links = [...numbered(8), 'http://elsewhere.test/', 'http://elsewhere.test/2'];
  await crawl.record(seed, { parsed: linksTo(...links) });
  await crawl.add(...numbered(2, 'b.test'));
  const pages = await crawl.admit();
  const gone = { ...failure('Blocked4xx'), statusCode: 404, errorKind: 'status', error: 'status 404' };
  const reset = { ...failure(), errorKind: 'reset', error: 'connection reset' };
  const [one, two, three, four] = pages.filter(({ domain }) => domain === 'a.test');
  const [other] = pages.filter(({ domain }) => domain === 'b.test');
  await crawl.record(one, { report: gone });
  await crawl.record(two, { report: gone });
  await crawl.record(three, { report: reset });
  await crawl.record(four, { report: reset, retryAt: inOneHour() });
  await crawl.record(other, { report: gone });
  return crawl;
}

async function countRows(crawl: TestCrawl): Promise<Record<string, number>> {
  const statuses = (await crawl.pages()).map(({ status }) => status);
  const count = (status: string) => statuses.filter((one) => one === status).length;
  return Object.fromEntries(statuses.map((status) => [status, count(status)]));
}

describe.each(['before', 'after'])('%s its counts are brought up to date, a crawl', (when) => {
  const prepare = async () => {
    const crawl = await mixedCrawl();
    if (when === 'after') await foldChanges(db(), crawl.id);
    return crawl;
  };

  test('has its pages counted by status', async () => {
    const crawl = await prepare();
    const counts = await readPageCounts(db(), crawl.id);
    expect(Object.fromEntries(counts.map(({ status, pages }) => [status, pages]))).toEqual(
      await countRows(crawl),
    );
  });

  test('has its pages counted by domain', async () => {
    const crawl = await prepare();
    expect(await readDomains(db(), crawl.id, 10)).toEqual([
      { domain: 'a.test', found: 9, open: 5, fetched: 1, failed: 3, paused: false },
      { domain: 'b.test', found: 2, open: 1, fetched: 0, failed: 1, paused: false },
    ]);
    expect(await readDomains(db(), crawl.id, 1)).toMatchObject([{ domain: 'a.test', found: 9 }]);
  });

  test('has its attempts counted by outcome', async () => {
    const { attempts } = (await readProgress(db(), (await prepare()).id)) ?? {};
    expect(attempts).toMatchObject({ Success: 1, Blocked4xx: 3, Failed: 2, Timeout: 0 });
  });

  test('has its links counted by what became of them', async () => {
    expect(await readLinkCounts(db(), (await prepare()).id)).toEqual({
      found: 10,
      skipped: { 'out of scope': 2 },
    });
  });
});

test('counts that are brought up to date by several processes at once stay exact', async () => {
  const crawl = await mixedCrawl();
  await atOnce(8, () => foldChanges(db(), crawl.id));
  const counts = await readPageCounts(db(), crawl.id);
  expect(counts.reduce((sum, { pages }) => sum + pages, 0)).toBe(11);
  expect(await db().crawlChange.count({ where: { crawlId: crawl.id } })).toBe(0);
});

test('a cancelled frontier is counted as cancelled', async () => {
  const crawl = await mixedCrawl();
  await giveOrder(db(), crawl.id, 'cancel');
  await cancelIdlePages(db(), crawl.id, async () => false);
  await foldChanges(db(), crawl.id);
  expect((await readProgress(db(), crawl.id))?.pages).toMatchObject({ Cancelled: 6, Fetched: 1, Failed: 4 });
});

describe('the causes of failure', () => {
  test('are grouped by kind and status code, with their domains and examples', async () => {
    const crawl = await mixedCrawl();
    await foldChanges(db(), crawl.id);
    const { causes, others } = await readCauses(db(), crawl.id);
    expect(others).toBe(0);
    expect(causes).toMatchObject([
      {
        ...{ status: 'Failed', errorKind: 'status', statusCode: 404, pages: 3 },
        domains: [
          { domain: 'a.test', pages: 2 },
          { domain: 'b.test', pages: 1 },
        ],
        samples: [
          { url: 'http://a.test/0', reason: 'status 404' },
          { url: 'http://a.test/1', reason: 'status 404' },
        ],
      },
      { errorKind: 'reset', statusCode: null, pages: 1, samples: [{ url: 'http://a.test/2' }] },
    ]);
  });

  test('lose the pages that return to the frontier', async () => {
    const crawl = await mixedCrawl();
    await foldChanges(db(), crawl.id);
    await db().page.updateMany({
      where: { crawlId: crawl.id, errorKind: 'status' },
      data: { status: 'Pending', errorKind: null, statusCode: null },
    });
    await foldChanges(db(), crawl.id);
    const { causes } = await readCauses(db(), crawl.id);
    expect(causes).toMatchObject([{ errorKind: 'reset', pages: 1 }]);
  });
});

describe('samples of a crawl', () => {
  test('are taken when it is swept, at most every ten seconds', async () => {
    const crawl = await mixedCrawl();
    await foldChanges(db(), crawl.id);
    await foldChanges(db(), crawl.id);
    expect(await readSamples(db(), crawl.id)).toMatchObject([{ found: 11, done: 5 }]);
  });

  test('are further apart the older it is', async () => {
    const crawl = await mixedCrawl();
    await foldChanges(db(), crawl.id);
    await crawl.letTimePass(200 * 60_000);
    const sampleAgo = (seconds: number) => db().$executeRaw`
      UPDATE crawl_samples SET at = now() - ${seconds} * interval '1 second' WHERE crawl_id = ${crawl.id}`;
    await sampleAgo(50);
    await foldChanges(db(), crawl.id);
    expect(await readSamples(db(), crawl.id)).toHaveLength(1);
    await sampleAgo(70);
    await foldChanges(db(), crawl.id);
    expect(await readSamples(db(), crawl.id)).toHaveLength(2);
  });
});

test('an update that leaves the status of a page alone leaves no change behind', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://a.test/'] });
  await foldChanges(db(), crawl.id);
  await db().page.updateMany({ where: { crawlId: crawl.id }, data: { checkAt: new Date() } });
  expect(await db().crawlChange.count({ where: { crawlId: crawl.id } })).toBe(0);
});
