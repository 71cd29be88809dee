import { expect, test } from 'vitest';
import { atOnce, inARace, linksTo, numbered, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

test('a URL enters a crawl once, however often it is found', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://a.test/', 'http://a.test/'] });
  const [seed] = await crawl.admit();
  await crawl.record(seed, { parsed: linksTo('http://a.test/x', 'http://a.test/x', 'http://a.test/') });
  const [x] = await crawl.admit();
  await crawl.record(x, { parsed: linksTo('http://a.test/', 'http://a.test/x') });
  expect(await crawl.urls()).toEqual(['http://a.test/', 'http://a.test/x']);
  expect(await crawl.page('http://a.test/x')).toMatchObject({ depth: 1, isSeed: false });
});

test('the same URL in two crawls is two pages', async () => {
  const crawls = await atOnce(2, () => startCrawl(db(), { seeds: ['http://a.test/'] }));
  for (const crawl of crawls) expect(await crawl.urls()).toEqual(['http://a.test/']);
});

test('an id is not given to another page after an older state of the database was restored', async () => {
  const crawl = await startCrawl(db());
  await crawl.add('http://a.test/since');
  const { id } = await crawl.page('http://a.test/since');
  // What a backup from before does, a second later or more.
  await db().$executeRaw`DELETE FROM pages WHERE id = ${id}`;
  await db()
    .$queryRaw`SELECT setval('pages_id_seq', (SELECT last_value FROM pages_id_seq), false), pg_sleep(1)`;
  await crawl.add('http://a.test/other');
  expect((await crawl.page('http://a.test/other')).id).not.toBe(id);
});

test('20 pages with the same 500 links in different order are recorded at once without a deadlock', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(20));
  const pages = await crawl.admit();
  // The domain is known already; the transactions would wait for each other to insert a new one.
  await crawl.add('http://b.test/known');
  const targets = numbered(500, 'b.test');
  const record = (n: number) => {
    const turned = [...targets.slice(n * 25), ...targets.slice(0, n * 25)];
    return crawl.record(pages[n], { parsed: linksTo(...(n % 2 === 0 ? turned : turned.reverse())) });
  };
  await inARace(db(), 20, record, (tx) => crawl.addWithin(tx, 'http://b.test/250'));
  expect(await crawl.statuses()).toEqual({ Fetched: 20, Pending: 501 });
  expect(await crawl.urls()).toEqual([...numbered(20), 'http://b.test/known', ...targets].sort());
});

test('20 pages that all link to each other are recorded at once without a deadlock', async () => {
  const crawl = await startCrawl(db());
  await crawl.add(...numbered(20));
  const pages = await crawl.admit();
  await inARace(db(), 20, (n) => crawl.record(pages[n], { parsed: linksTo(...numbered(20)) }));
  expect(await crawl.statuses()).toEqual({ Fetched: 20 });
});

test('5,000 links on one page are registered in one transaction', async () => {
  const crawl = await startCrawl(db());
  const page = await crawl.admitted('http://a.test/');
  const targets = Array.from({ length: 5_000 }, (_, n) => `http://host-${n % 50}.test/${n}`);
  const { domains } = await crawl.record(page, { parsed: linksTo(...targets) });
  expect(new Set(domains).size).toBe(51);
  expect(await crawl.statuses()).toEqual({ Fetched: 1, Pending: 5_000 });
  expect(await db().link.count({ where: { pageId: BigInt(page.pageId) } })).toBe(5_000);
});

test('links that are out of scope, nofollow or too deep are stored but do not enter the frontier', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://www.a.com/'], scope: 'site', maxDepth: 1 });
  const [seed] = await crawl.admit();
  const { links, ...parsed } = linksTo('http://blog.a.com/', 'http://b.com/', 'http://www.a.com/login');
  await crawl.record(seed, {
    parsed: { ...parsed, links: links.map((link) => ({ ...link, nofollow: link.url.endsWith('/login') })) },
  });
  expect(await crawl.urls()).toEqual(['http://blog.a.com/', 'http://www.a.com/']);
  expect(await db().link.count({ where: { page: { crawlId: crawl.id } } })).toBe(3);

  const [deep] = await crawl.admit();
  await crawl.record(deep, { parsed: linksTo('http://www.a.com/too-deep') });
  expect(await crawl.urls()).toEqual(['http://blog.a.com/', 'http://www.a.com/']);
  expect(await db().link.count({ where: { page: { crawlId: crawl.id } } })).toBe(4);
});

test('scope "host" includes exactly the hosts of the seeds', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://www.a.com/'], scope: 'host' });
  const [seed] = await crawl.admit();
  await crawl.record(seed, { parsed: linksTo('http://blog.a.com/', 'https://www.a.com/') });
  expect(await crawl.urls()).toEqual(['http://www.a.com/', 'https://www.a.com/']);
});

test('a page refers to the page on which it was found first', async () => {
  const crawl = await startCrawl(db());
  const [one, other] = [await crawl.admitted('http://a.test/1'), await crawl.admitted('http://a.test/2')];
  await crawl.record(one, { parsed: linksTo('http://a.test/x') });
  await crawl.record(other, { parsed: linksTo('http://a.test/x') });
  expect((await crawl.page('http://a.test/x')).foundOnId).toBe(BigInt(one.pageId));
});
