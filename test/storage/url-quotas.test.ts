import { expect, test } from 'vitest';
import { readProgress } from '../../src/storage/reports/progress.ts';
import { atOnce, linksTo, numbered, redirectTo, SETTINGS, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();
const { traps: unlimited } = SETTINGS;

test('a directory accepts pages up to its limit, whichever pages link to them, and the rest are counted as skipped', async () => {
  const crawl = await startCrawl(db(), {
    seeds: ['http://a.test/'],
    traps: { ...unlimited, maxPerDirectory: 5 },
  });
  const [seed] = await crawl.admit();
  await crawl.record(seed, { parsed: linksTo(...numbered(3).map((url) => `${url}/x`), ...numbered(3)) });
  const [first] = await crawl.admit();
  await crawl.record(first, { parsed: linksTo(...numbered(10)) });
  const pages = await crawl.urls();
  expect(pages.filter((url) => /test\/\d+$/.test(url))).toEqual(numbered(5));
  expect(pages.filter((url) => url.endsWith('/x'))).toHaveLength(3);
  expect((await crawl.page(first?.url ?? '')).linksSkipped).toEqual({ 'directory full': 5 });
});

test('known pages are not counted twice', async () => {
  const crawl = await startCrawl(db(), {
    seeds: ['http://b.test/'],
    traps: { ...unlimited, maxPerDirectory: 4 },
  });
  const [seed] = await crawl.admit();
  await crawl.record(seed, { parsed: linksTo(...numbered(3)) });
  for (const page of await crawl.admit()) await crawl.record(page, { parsed: linksTo(...numbered(4)) });
  expect(await crawl.urls()).toEqual([...numbered(4), 'http://b.test/']);
});

test('queries of one shape and pages of one calendar have their own limits', async () => {
  const crawl = await startCrawl(db(), {
    seeds: ['http://a.test/'],
    traps: { ...unlimited, maxPerQuery: 2, maxPerCalendar: 1 },
  });
  const [seed] = await crawl.admit();
  await crawl.record(seed, {
    parsed: linksTo(
      'http://a.test/list?page=1',
      'http://a.test/list?page=2',
      'http://a.test/list?page=3',
      'http://a.test/list?page=1&sort=up',
      'http://a.test/events/2031/05',
      'http://a.test/events/2031/06',
      'http://a.test/plain',
    ),
  });
  expect(await crawl.urls()).toHaveLength(6);
  expect((await readProgress(db(), crawl.id))?.skipped).toEqual({ 'calendar full': 1, 'query full': 1 });
});

test('a domain accepts pages up to its limit, including seeds and redirects', async () => {
  const crawl = await startCrawl(db(), {
    seeds: ['http://a.test/', 'http://b.test/'],
    maxPagesPerDomain: 3,
  });
  const [one, other] = await crawl.admit();
  await crawl.record(one, { parsed: linksTo(...numbered(5), ...numbered(1, 'c.test')) });
  await crawl.record(other);
  expect(await crawl.urls()).toEqual([
    'http://a.test/',
    'http://a.test/0',
    'http://a.test/1',
    'http://b.test/',
    'http://c.test/0',
  ]);
  const [moved] = await crawl.admit(undefined, ['a.test']);
  await crawl.record(moved, { report: redirectTo('http://a.test/elsewhere') });
  expect(await crawl.page(moved?.url ?? '')).toMatchObject({
    status: 'Redirected',
    reason: 'not followed: domain full',
  });
});

test('the redirect target of a seed is counted in its domain, and accepted over quota', async () => {
  const crawl = await startCrawl(db(), {
    seeds: ['http://old.test/1', 'http://old.test/2', 'http://old.test/3'],
    maxPagesPerDomain: 2,
  });
  for (const [i, seed] of (await crawl.admit()).entries())
    await crawl.record(seed, { report: redirectTo(`http://new.test/${i}`) });
  const [first] = await crawl.admit();
  await crawl.record(first, { parsed: linksTo('http://new.test/more') });
  expect((await crawl.urls()).filter((url) => url.includes('new.test'))).toEqual([
    'http://new.test/0',
    'http://new.test/1',
    'http://new.test/2',
  ]);
  expect((await readProgress(db(), crawl.id))?.skipped).toEqual({ 'domain full': 1 });
});

test('pages of one directory that end at the same moment neither deadlock nor exceed its limit by much', async () => {
  const crawl = await startCrawl(db(), { traps: { ...unlimited, maxPerDirectory: 50 } });
  await crawl.add(...numbered(10, 'many.test'));
  const pages = await crawl.admit();
  await atOnce(10, (n) =>
    crawl.record(pages[n], { parsed: linksTo(...numbered(30).slice(n), ...numbered(30, 'b.test')) }),
  );
  expect(await crawl.urls()).toHaveLength(10 + 30 + 30);
  const counts = await db().crawlUrlCount.findMany({
    where: { crawlId: crawl.id },
    orderBy: { groupName: 'asc' },
  });
  expect(counts.map(({ groupName }) => groupName)).toEqual(['a.test/', 'b.test/']);
  for (const { urlCount } of counts) expect(urlCount).toBeGreaterThanOrEqual(30);
});

test('every link that is not followed is counted with its reason', async () => {
  const crawl = await startCrawl(db(), {
    seeds: ['http://a.test/'],
    scope: 'host',
    exclude: ['*.pdf'],
    include: ['http://*.test/*', '/only/*'],
    maxDepth: 0,
    traps: { ...unlimited, maxPathDepth: 3, maxRepeats: 2 },
  });
  const [seed] = await crawl.admit();
  const parsed = linksTo(
    'http://elsewhere.test/',
    'http://a.test/x.pdf',
    'http://a.test/1/2/3/4',
    'http://a.test/x/x/x',
    'http://a.test/fine',
  );
  const links = [
    ...parsed.links,
    { url: 'http://a.test/login', anchor: null, rel: 'nofollow', nofollow: true },
  ];
  await crawl.record(seed, { parsed: { ...parsed, links, linksFound: 9, linksTooLong: 2 } });
  expect((await readProgress(db(), crawl.id))?.skipped).toEqual({
    'out of scope': 1,
    excluded: 1,
    'path too deep': 1,
    'repeated segments': 1,
    'beyond max-depth': 1,
    nofollow: 1,
    'too long': 2,
    'too many on the page': 3,
  });
});

test('a page with an immediate <meta> refresh ends as Redirected, and its target is a page', async () => {
  const crawl = await startCrawl(db(), { seeds: ['http://a.test/'] });
  const [seed] = await crawl.admit();
  await crawl.record(seed, { parsed: { ...linksTo('http://a.test/new'), refreshTo: 'http://a.test/new' } });
  expect(await crawl.page('http://a.test/')).toMatchObject({
    status: 'Redirected',
    redirectTo: 'http://a.test/new',
    contentHash: 'c0ffee',
  });
  expect(await crawl.page('http://a.test/new')).toMatchObject({ depth: 0, redirectCount: 1, isSeed: true });
});
