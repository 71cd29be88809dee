import { expect, test } from 'vitest';
import type { TrapLimits } from '../../src/core/settings.ts';
import { letInHost } from '../../src/storage/frontier/host-bounds.ts';
import { registerSitemapEntries } from '../../src/storage/frontier/register-sitemap-entries.ts';
import { registerAnnouncedSitemaps } from '../../src/storage/frontier/register-sitemaps.ts';
import { readProgress } from '../../src/storage/reports/progress.ts';
import { hostnameOf } from '../../src/urls/index.ts';
import {
  inARace,
  linksTo,
  redirectTo,
  SETTINGS,
  startCrawl,
  type TestCrawl,
  useDatabase,
} from './support.ts';

/** Statements sent so far. */
const sent: string[] = [];
const db = useDatabase(({ text }) => sent.push(text));

const HOSTS = 'too many hosts of the site';
const PORTS = 'too many ports of the host';

const limited = (limits: Partial<TrapLimits>) => ({ traps: { ...SETTINGS.traps, ...limits } });

/** http://h0.evil.com/, http://h1.evil.com/, ... */
const endless = (count: number, from = 0) =>
  Array.from({ length: count }, (_, n) => `http://h${from + n}.evil.com/`);

const onPorts = (...ports: number[]) => ports.map((port) => `http://evil.com:${port}/`);

/** A crawl of these pages, and its first admission. */
async function begin(settings: Partial<TrapLimits>, ...seeds: string[]) {
  const crawl = await startCrawl(db(), { seeds, sitemaps: true, ...limited(settings) });
  return { crawl, admitted: await crawl.admit() };
}

async function expectSkipped(crawl: TestCrawl, skipped: Record<string, number>): Promise<void> {
  expect((await readProgress(db(), crawl.id))?.skipped).toEqual(skipped);
}

/** What is counted is what is let in, and no more of a group than its limit. */
async function expectCounted(crawl: TestCrawl, counts: Record<string, number>): Promise<void> {
  const rows = await db().crawlHostCount.findMany({ where: { crawlId: crawl.id } });
  expect(Object.fromEntries(rows.map(({ groupName, hostCount }) => [groupName, hostCount]))).toEqual(counts);
}

test('a site gets as many hosts as its limit, whichever pages link to them, and the rest are counted as skipped', async () => {
  const { crawl, admitted } = await begin({ maxHostsPerSite: 3 }, 'http://seed.org/', 'http://seed.org/2');
  await crawl.record(admitted[0], { parsed: linksTo(...endless(2), 'http://good.org/') });
  await crawl.record(admitted[1], { parsed: linksTo(...endless(5), ...endless(5), 'http://www.good.org/') });
  expect((await crawl.urls()).filter((url) => url.includes('evil'))).toEqual(endless(3));
  expect(await crawl.urls()).toHaveLength(2 + 3 + 2);
  expect((await crawl.page('http://seed.org/2')).linksSkipped).toEqual({ [HOSTS]: 4 });
  await expectCounted(crawl, { '*.evil.com': 3, '*.good.org': 2 });
});

test('a known host accepts further pages after its site has reached its limit', async () => {
  const { crawl, admitted } = await begin({ maxHostsPerSite: 1 }, 'http://seed.org/', 'http://seed.org/2');
  await crawl.record(admitted[0], { parsed: linksTo(...endless(2)) });
  const more = ['http://h0.evil.com/more', 'https://h0.evil.com/', 'http://h0.evil.com:8080/'];
  await crawl.record(admitted[1], { parsed: linksTo(...more, 'http://h1.evil.com/more') });
  expect(await crawl.urls()).toEqual(expect.arrayContaining(more));
  await expectSkipped(crawl, { [HOSTS]: 2 });
});

test('hosts and ports of seeds, and of their redirect targets, are let in and not counted', async () => {
  const seeds = ['http://evil.com/', 'http://www.evil.com/', ...onPorts(1001, 1002), 'http://old.org/'];
  const { crawl, admitted } = await begin({ maxHostsPerSite: 1, maxPortsPerHost: 1 }, ...seeds);
  const [evil, www, , , old] = admitted;
  await crawl.record(old, { report: redirectTo('http://new.evil.com:1003/') });
  await crawl.record(evil, {
    parsed: linksTo(
      'http://www.evil.com/x',
      'http://evil.com:1002/x',
      'http://new.evil.com/x',
      'http://new.evil.com:1003/x',
    ),
  });
  expect((await crawl.urls()).filter((url) => url.endsWith('x'))).toHaveLength(4);
  await expectSkipped(crawl, {});
  await expectCounted(crawl, {});
  await crawl.record(www, { parsed: linksTo(...endless(2), ...onPorts(1004, 1005)) });
  await expectSkipped(crawl, { [HOSTS]: 1, [PORTS]: 1 });
  await expectCounted(crawl, { '*.evil.com': 1, 'evil.com:*': 1 });
});

test('a host gets as many ports as its limit, beside the default ports', async () => {
  const { crawl, admitted } = await begin({ maxHostsPerSite: 5, maxPortsPerHost: 2 }, 'http://seed.org/');
  const normal = ['http://evil.com/', 'https://evil.com/'];
  await crawl.record(admitted[0], { parsed: linksTo(...onPorts(1, 2, 3, 4), ...normal, ...onPorts(2, 5)) });
  expect((await crawl.urls()).filter((url) => url.includes('evil'))).toEqual(
    [...normal, ...onPorts(1, 2)].sort(),
  );
  await expectSkipped(crawl, { [PORTS]: 3 });
});

test('a host beyond the limit leaves nothing in the database, whatever its ports', async () => {
  const { crawl, admitted } = await begin({ maxHostsPerSite: 1, maxPortsPerHost: 1 }, ...endless(2));
  await crawl.record(admitted[0], { parsed: linksTo(...endless(20, 10).map((url) => `${url}x`)) });
  const hostRows = () => db().crawlHost.count({ where: { crawlId: crawl.id } });
  expect(await hostRows()).toBe(2 + 1);
  await crawl.record(admitted[1], { parsed: linksTo('http://h99.evil.com:81/', 'http://h99.evil.com:82/') });
  expect(await hostRows()).toBe(2 + 1);
  await expectCounted(crawl, { '*.evil.com': 1 });
});

test('a redirect to a host or port beyond the limit ends its page with the reason', async () => {
  const { crawl, admitted } = await begin({ maxHostsPerSite: 2, maxPortsPerHost: 1 }, 'http://seed.org/');
  await crawl.record(admitted[0], { parsed: linksTo(...endless(2), 'http://h0.evil.com:81/') });
  const [one, two, three] = await crawl.admit();
  await crawl.record(one, { report: redirectTo('http://h9.evil.com/') });
  await crawl.record(three, { report: redirectTo('http://h0.evil.com:82/') });
  await crawl.record(two, { report: redirectTo('http://h0.evil.com/fine') });
  const reasonOf = async (page = one) => (await crawl.page(page?.url ?? '')).reason;
  expect(await reasonOf(one)).toBe(`not followed: ${HOSTS}`);
  expect(await reasonOf(three)).toBe(`not followed: ${PORTS}`);
  expect(await reasonOf(two)).toBeNull();
});

test('a host or port that a redirect of robots.txt leads to is let in and counted like that of a link', async () => {
  const { crawl } = await begin({ maxHostsPerSite: 2, maxPortsPerHost: 1 }, 'http://seed.org/');
  const leadTo = (url: string) =>
    letInHost(db(), crawl.settings, { crawlId: crawl.id, foundOn: 'http://seed.org/robots.txt', url });
  const [first, second, third] = endless(3);
  expect(await leadTo(`${first}robots.txt`)).toBeNull();
  expect(await leadTo(`${first}again.txt`)).toBeNull();
  expect(await leadTo(`${second}robots.txt`)).toBeNull();
  expect(await leadTo(`${third}robots.txt`)).toBe(HOSTS);
  expect(await leadTo('http://h0.evil.com:81/')).toBeNull();
  expect(await leadTo('http://h0.evil.com:82/')).toBe(PORTS);
  expect(await leadTo('http://seed.org/elsewhere.txt')).toBeNull();
  await expectCounted(crawl, { '*.evil.com': 2, 'h0.evil.com:*': 1 });
});

test('sitemaps on too many other hosts are counted in the seed whose robots.txt names them', async () => {
  const { crawl, admitted } = await begin({ maxHostsPerSite: 3 }, 'http://seed.org/');
  const [seed] = admitted;
  const others = Array.from({ length: 8 }, (_, n) => `http://other${n}.org/sitemap.xml`);
  const body = [...others, ...endless(5).map((url) => `${url}sitemap.xml`)]
    .map((url) => `Sitemap: ${url}`)
    .join('\n');
  await db().robots.create({
    data: { origin: 'http://seed.org', domain: 'seed.org', fetchedAt: new Date(), body },
  });
  // A first attempt that fails registers them too.
  await registerAnnouncedSitemaps(db(), crawl.settings, 'host', seed?.pageId ?? '');
  const { skipped } = await registerAnnouncedSitemaps(db(), crawl.settings, 'host', seed?.pageId ?? '');
  expect(skipped).toEqual({ 'too many other hosts of sitemaps': 3 });
  await crawl.record(seed, { parsed: linksTo('http://seed.org/x'), sitemapsSkipped: skipped });
  const { linksFound, linksSkipped } = await crawl.page('http://seed.org/');
  expect({ linksFound, linksSkipped }).toEqual({ linksFound: 1 + 3, linksSkipped: skipped });
  await expectSkipped(crawl, skipped);
  expect((await crawl.urls()).filter((url) => url.includes('sitemap'))).toHaveLength(8 + 2 + 1);
});

test('entries of a sitemap and of an index are limited like links', async () => {
  const { crawl, admitted } = await begin({ maxHostsPerSite: 3 }, 'http://evil.com/');
  const [seed] = admitted;
  await db().robots.create({
    data: { origin: 'http://evil.com', domain: 'evil.com', fetchedAt: new Date() },
  });
  await registerAnnouncedSitemaps(db(), crawl.settings, 'host', seed?.pageId ?? '');
  await db()
    .$executeRaw`UPDATE pages SET status = 'Queued' WHERE crawl_id = ${crawl.id} AND kind = 'sitemap'`;
  const { id } = await crawl.page('http://evil.com/sitemap.xml');
  const list = (kind: 'page' | 'sitemap', ...urls: string[]) =>
    registerSitemapEntries(db(), {
      settings: crawl.settings,
      unit: 'host',
      pageId: id.toString(),
      entries: urls.map((url) => ({ kind, url, lastmod: null })),
    });
  expect(await list('page', ...endless(2), 'http://evil.com/x')).toEqual({});
  expect(await list('page', ...endless(2))).toEqual({});
  expect(await list('sitemap', ...endless(5, 1).map((url) => `${url}s.xml`))).toEqual({ [HOSTS]: 3 });
  expect(await list('page', ...endless(9))).toEqual({ [HOSTS]: 6 });
  await expectCounted(crawl, { '*.evil.com': 3 });
});

test('pages with new hosts of one site that end at the same moment let in as many as the limit, without a deadlock', async () => {
  const { crawl, admitted } = await begin(
    { maxHostsPerSite: 50, maxPortsPerHost: 3 },
    ...endless(10).map((url) => url.replace('evil.com', 'seed.org')),
  );
  sent.length = 0;
  const common = endless(40);
  const record = (n: number) => {
    const turned = [...common.slice(n * 4), ...common.slice(0, n * 4)];
    const urls = [...turned, ...endless(5, 100 + n * 5), ...onPorts(n + 1, n + 2, n + 3)];
    return crawl.record(admitted[n], { parsed: linksTo(...(n % 2 === 0 ? urls : urls.reverse())) });
  };
  // All wait for this host, each with those that it has let in before.
  await inARace(
    db(),
    10,
    record,
    (tx) => tx.$executeRaw`INSERT INTO crawl_hosts VALUES (${crawl.id}, 'h22.evil.com')`,
  );
  // A transaction that was rolled back in a deadlock would have locked its page again.
  expect(sent.filter((text) => text.includes('FOR UPDATE OF p'))).toHaveLength(10);
  await expectCounted(crawl, { '*.evil.com': 50, 'evil.com:*': 3 });
  const urls = (await crawl.urls()).filter((url) => url.includes('evil'));
  expect(new Set(urls.map(hostnameOf)).size).toBe(1 + 50);
  expect(urls.filter((url) => url.includes('//evil.com:'))).toHaveLength(3);
  // Those of the seeds, the one that all waited for, 50 more and 3 ports.
  expect(await db().crawlHost.count({ where: { crawlId: crawl.id } })).toBe(10 + 1 + 50 + 3);
});

test('the same new hosts found by many pages at once are counted once', async () => {
  const { crawl } = await begin({ maxHostsPerSite: 5 });
  await crawl.add(...endless(20).map((url) => url.replace('evil.com', 'seed.org')));
  const pages = await crawl.admit();
  await inARace(
    db(),
    20,
    (n) => crawl.record(pages[n], { parsed: linksTo(...endless(5)) }),
    (tx) => tx.$executeRaw`LOCK TABLE crawl_hosts IN EXCLUSIVE MODE`,
  );
  expect((await crawl.urls()).filter((url) => url.includes('evil'))).toEqual(endless(5));
  await expectSkipped(crawl, {});
  await expectCounted(crawl, { '*.evil.com': 5 });
});

test('the limits cost a page with new links to other hosts one statement, and one more if a host is let in', async () => {
  const costOf = async (limits: Partial<TrapLimits>, ...urls: string[]) => {
    const { crawl, admitted } = await begin(limits, 'http://seed.org/', 'http://seed.org/2');
    await crawl.record(admitted[0], { parsed: linksTo(...endless(3), 'http://h0.evil.com:81/') });
    const before = sent.length;
    await crawl.record(admitted[1], { parsed: linksTo(...urls) });
    return sent.length - before;
  };
  const known = [...endless(3), 'http://h0.evil.com:81/'];
  const few = { maxHostsPerSite: 3, maxPortsPerHost: 1 };
  expect(await costOf(few, ...known)).toBe(await costOf({}, ...known));
  const found = ['http://seed.org/new', 'http://h1.evil.com/new', 'http://h0.evil.com:81/new'];
  const cost = await costOf({}, ...found);
  expect(await costOf(few, ...found)).toBe(cost + 1);
  expect(await costOf(few, ...found, ...endless(9), 'http://h0.evil.com:82/')).toBe(cost + 1);
  expect(await costOf({ ...few, maxHostsPerSite: 4 }, ...found, ...endless(4))).toBe(cost + 2);
  expect(await costOf(few, 'http://seed.org/new')).toBe(await costOf({}, 'http://seed.org/new'));
});
