import { expect, test } from 'vitest';
import { atOnce, giveOrder, inARace, numbered, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

test('20 admissions at once fill the window of each domain and never exceed it', async () => {
  const crawl = await startCrawl(db(), { window: 7 });
  await crawl.add(...numbered(50, 'a.test'), ...numbered(50, 'b.test'));
  const admitted = (await inARace(db(), 20, () => crawl.admit())).flat();
  expect(await crawl.statuses()).toEqual({ Queued: 14, Pending: 86 });
  expect(new Set(admitted.map(({ pageId }) => pageId)).size).toBe(14);
  expect(admitted).toHaveLength(14);
  expect(admitted.filter(({ domain }) => domain === 'a.test')).toHaveLength(7);
});

test('pages are admitted by priority number, then in the order they were found', async () => {
  const crawl = await startCrawl(db(), { window: 4 });
  await crawl.add('http://a.test/plain', 'http://a.test/late');
  await crawl.add('http://a.test/urgent', 'http://a.test/soon', 'http://a.test/also-soon');
  const prioritise = (url: string, priority: number) =>
    db().page.updateMany({ where: { crawlId: crawl.id, url }, data: { priority } });
  await prioritise('http://a.test/late', 9);
  await prioritise('http://a.test/urgent', 1);
  await prioritise('http://a.test/soon', 2);
  await prioritise('http://a.test/also-soon', 2);
  const [soon, alsoSoon] = (await crawl.pages()).filter(({ priority }) => priority === 2);
  expect((await crawl.admit()).map(({ url }) => url)).toEqual([
    'http://a.test/urgent',
    soon?.url,
    alsoSoon?.url,
    'http://a.test/plain',
  ]);
});

test('rows that another transaction has locked are skipped, not waited for', async () => {
  const crawl = await startCrawl(db(), { window: 2 });
  await crawl.add(...numbered(3));
  const [first, second, third] = await crawl.pages();
  await db().$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM pages WHERE id = ${first?.id} FOR UPDATE`;
    const admitted = await crawl.admit();
    expect(admitted.map(({ url }) => url)).toEqual([second?.url, third?.url]);
  });
});

test('an admission does not wait for the row of a domain without room', async () => {
  const crawl = await startCrawl(db(), { window: 1 });
  await crawl.add(...numbered(2, 'full.test'));
  await crawl.admit();
  await crawl.add(...numbered(2, 'roomy.test'));
  await db().$transaction(async (tx) => {
    await tx.$queryRaw`SELECT 1 FROM crawl_domains WHERE domain = 'full.test' AND crawl_id = ${crawl.id} FOR UPDATE`;
    const admitted = await crawl.admit(undefined, ['full.test', 'roomy.test']);
    expect(admitted.map(({ domain }) => domain)).toEqual(['roomy.test']);
  });
});

test('a repeated admission returns the open pages it admitted before, and admits more if there is room', async () => {
  const crawl = await startCrawl(db(), { window: 2 });
  await crawl.add(...numbered(5));
  const [done, ...kept] = await crawl.admit('persist-1');
  expect(await crawl.admit('persist-1')).toEqual([done, ...kept]);
  expect(await crawl.admit('somebody else')).toEqual([]);

  await crawl.record(done);
  const again = await crawl.admit('persist-1');
  expect(again).toHaveLength(2);
  expect(again).toEqual(expect.arrayContaining(kept.map((page) => expect.objectContaining(page))));
  expect(again.map(({ pageId }) => pageId)).not.toContain(done?.pageId);
});

test('an admission that runs twice at the same moment returns the same pages twice', async () => {
  const crawl = await startCrawl(db(), { window: 2 });
  await crawl.add(...numbered(5));
  const [one, other] = await inARace(
    db(),
    2,
    () => crawl.admit('persist-2'),
    (tx) => tx.$queryRaw`SELECT 1 FROM crawl_domains WHERE crawl_id = ${crawl.id} FOR UPDATE`,
  );
  expect(one).toHaveLength(2);
  expect(other).toEqual(one);
});

test('a window is refilled when half of it is free, several pages at a time', async () => {
  const crawl = await startCrawl(db(), { window: 4 });
  await crawl.add(...numbered(10));
  const [first, second] = await crawl.admit('begin');
  await crawl.record(first);
  expect(await crawl.admit('too early')).toEqual([]);
  await crawl.record(second);
  expect(await crawl.admit('half is free')).toHaveLength(2);
});

test('only the given domains are considered', async () => {
  const crawl = await startCrawl(db());
  await crawl.add('http://a.test/', 'http://b.test/', 'http://c.test/');
  const admitted = await crawl.admit(undefined, ['b.test', 'never-heard-of.test']);
  expect(admitted.map(({ url }) => url)).toEqual(['http://b.test/']);
  expect(await crawl.admit(undefined, [])).toEqual([]);
});

test('one call admits at most 200 pages, shared evenly by the domains; the next call continues', async () => {
  const crawl = await startCrawl(db());
  const hosts = ['a.test', 'b.test', 'c.test', 'd.test', 'e.test'];
  for (const host of hosts) await crawl.add(...numbered(100, host));
  const first = await crawl.admit();
  for (const host of hosts) expect(first.filter(({ domain }) => domain === host)).toHaveLength(40);
  expect(await crawl.admit()).toHaveLength(200);
});

test('nothing is admitted to a crawl that is not running', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(3));
  await giveOrder(db(), crawl.id, 'cancel');
  expect(await crawl.admit()).toEqual([]);
  expect(await crawl.statuses()).toEqual({ Pending: 3 });
});

test('two crawls of one domain have a window each', async () => {
  const crawls = await atOnce(2, () => startCrawl(db(), { window: 2 }));
  for (const crawl of crawls) {
    await crawl.add(...numbered(3));
    expect(await crawl.admit()).toHaveLength(2);
  }
});
