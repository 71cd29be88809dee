import { expect, test } from 'vitest';
import { admitDue } from '../../src/storage/frontier/sweep.ts';
import {
  failure,
  HOUR_MS,
  inOneHour,
  linksTo,
  numbered,
  startCrawl,
  type TestCrawl,
  useDatabase,
} from './support.ts';

const db = useDatabase();

const SEEDS = ['http://a.test/', 'http://b.test/', 'http://c.test/'];

async function startCold(pending = 5, seeds = SEEDS): Promise<TestCrawl> {
  return startCrawl(db(), { seeds, warmup: { pending, atMostMs: HOUR_MS } });
}

/** The pages that recording a page would start. */
async function startedBy(crawl: TestCrawl, domains: string[]): Promise<string[]> {
  return (await crawl.admit(undefined, domains)).map(({ url }) => url).sort();
}

test('seeds are admitted at once; other pages are admitted when enough are pending', async () => {
  const crawl = await startCold();
  const [a, b] = await crawl.admit();
  expect(await crawl.statuses()).toEqual({ Queued: 3 });

  await crawl.record(a, { parsed: linksTo(...numbered(3, 'a.test')) });
  expect(await startedBy(crawl, ['a.test'])).toEqual([]);
  expect(await crawl.statuses()).toEqual({ Fetched: 1, Queued: 2, Pending: 3 });

  await crawl.record(b, { parsed: linksTo(...numbered(3, 'b.test')) });
  // Pages of a.test too, although the page that found them is of b.test.
  expect(await startedBy(crawl, ['b.test'])).toEqual([...numbered(3, 'a.test'), ...numbered(3, 'b.test')]);
});

test('a warm-up that is over does not start again, however few pages are pending', async () => {
  const crawl = await startCold();
  const [a] = await crawl.admit();
  await crawl.record(a, { parsed: linksTo(...numbered(5, 'a.test')) });
  const [next] = await crawl.admit();
  await crawl.record(next, { parsed: linksTo('http://d.test/') });
  expect(await startedBy(crawl, ['d.test'])).toEqual(['http://d.test/']);
});

test('a warm-up ends after the last seed if there will never be enough pages', async () => {
  const crawl = await startCold();
  const [a, b, c] = await crawl.admit();
  await crawl.record(a, { parsed: linksTo('http://a.test/1') });
  await crawl.record(b);
  expect(await startedBy(crawl, ['a.test', 'b.test'])).toEqual([]);
  await crawl.record(c);
  expect(await startedBy(crawl, ['c.test', 'a.test'])).toEqual(['http://a.test/1']);
});

test('a warm-up does not wait for a seed that waits for its retry', async () => {
  const crawl = await startCold(5, SEEDS.slice(0, 2));
  const [a, b] = await crawl.admit();
  await crawl.record(a, { parsed: linksTo('http://a.test/1') });
  await crawl.record(b, { report: failure(), retryAt: inOneHour() });
  expect(await startedBy(crawl, ['a.test', 'b.test'])).toEqual(['http://a.test/1']);
});

test('the redirect target of a seed is a seed and is admitted at once', async () => {
  const crawl = await startCold(5, SEEDS.slice(0, 2));
  const [a] = await crawl.admit();
  await crawl.record(a, {
    report: { ...failure('Success'), found: { kind: 'redirect', to: 'http://d.test/' } },
  });
  expect(await startedBy(crawl, ['d.test'])).toEqual(['http://d.test/']);
});

test('after its time limit, the next sweep admits what there is', async () => {
  const crawl = await startCold();
  const [a] = await crawl.admit();
  await crawl.record(a, { parsed: linksTo('http://a.test/1') });
  expect(await admitDue(db(), crawl.id, crawl.settings, 'early')).toEqual([]);
  await db()
    .$executeRaw`UPDATE crawls SET created_at = created_at - interval '1 hour' WHERE id = ${crawl.id}`;
  expect(await admitDue(db(), crawl.id, crawl.settings, 'late')).toMatchObject([{ url: 'http://a.test/1' }]);
});

test('seeds that do not fit into the window are admitted during the warm-up', async () => {
  const crawl = await startCrawl(db(), {
    seeds: numbered(3),
    window: 2,
    warmup: { pending: 5, atMostMs: HOUR_MS },
  });
  const [first, second] = await crawl.admit();
  const left = numbered(3).filter((url) => url !== first?.url && url !== second?.url);
  await crawl.record(first, { parsed: linksTo('http://a.test/found') });
  await crawl.record(second);
  expect(await startedBy(crawl, ['a.test'])).toEqual(left);
});

test('a warm-up ends at once if there are enough seeds', async () => {
  const crawl = await startCold(3);
  const [a] = await crawl.admit();
  await crawl.record(a, { parsed: linksTo('http://a.test/1') });
  expect(await startedBy(crawl, ['a.test'])).toEqual(['http://a.test/1']);
});
