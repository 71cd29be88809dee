import { describe, expect, test } from 'vitest';
import type { AdmittedPage } from '../../src/core/page-input.ts';
import type { SitemapEntry } from '../../src/sitemaps/index.ts';
import { admitSitemaps } from '../../src/storage/frontier/admit-sitemaps.ts';
import { cancelIdlePages } from '../../src/storage/frontier/cancel.ts';
import { registerSitemapEntries } from '../../src/storage/frontier/register-sitemap-entries.ts';
import { registerAnnouncedSitemaps } from '../../src/storage/frontier/register-sitemaps.ts';
import { hasOpenPages } from '../../src/storage/frontier/sweep.ts';
import { countPages } from '../../src/storage/reports/counts.ts';
import { readProgress } from '../../src/storage/reports/progress.ts';
import { NO_RULES, type SkipCounts } from '../../src/urls/index.ts';
import {
  atOnce,
  failure,
  linksTo,
  numbered,
  redirectTo,
  startCrawl,
  type TestCrawl,
  useDatabase,
} from './support.ts';

const db = useDatabase();

const ROOT = 'http://a.test/sitemap.xml';

/** A crawl of http://a.test/ whose robots.txt is known, with its seed in progress. */
async function begin(settings: Parameters<typeof startCrawl>[1] = {}, robots: string | null = null) {
  await db().robots.upsert({
    where: { origin: 'http://a.test' },
    create: { origin: 'http://a.test', domain: 'a.test', body: robots, fetchedAt: new Date() },
    update: { body: robots, fetchedAt: new Date() },
  });
  const crawl = await startCrawl(db(), { seeds: ['http://a.test/'], sitemaps: true, ...settings });
  const [seed] = await crawl.admit();
  return { crawl, seed };
}

/** What processing an attempt at a seed does. */
async function end(
  crawl: TestCrawl,
  seed: AdmittedPage | undefined,
  done: Parameters<TestCrawl['record']>[1] = {},
) {
  const announced = await registerAnnouncedSitemaps(db(), crawl.settings, 'host', seed?.pageId ?? '');
  await crawl.record(seed, { ...done, sitemapsSkipped: announced.skipped });
  return announced.domains;
}

/** The same, with its sitemap in progress. */
async function readSitemap(settings: Parameters<typeof startCrawl>[1] = {}) {
  const { crawl, seed } = await begin(settings);
  await end(crawl, seed);
  const sitemap = await nextSitemap(crawl);
  if (sitemap === undefined) throw new Error('No sitemap was admitted.');
  return { crawl, sitemap };
}

async function nextSitemap(crawl: TestCrawl, caller = 'somebody'): Promise<AdmittedPage | undefined> {
  const by = `${crawl.id}:${caller}`;
  await admitSitemaps(db(), { crawlId: crawl.id, admissionId: by, domains: null });
  return (await crawl.admit(by)).find(({ sitemap }) => sitemap);
}

function list(crawl: TestCrawl, { pageId }: AdmittedPage, ...entries: SitemapEntry[]): Promise<SkipCounts> {
  return registerSitemapEntries(db(), { settings: crawl.settings, unit: 'host', pageId, entries });
}

const page = (url: string, lastmod: Date | null = null): SitemapEntry => ({ kind: 'page', url, lastmod });
const further = (url: string): SitemapEntry => ({ kind: 'sitemap', url, lastmod: null });

async function sitemapsOf(crawl: TestCrawl): Promise<string[]> {
  const sitemaps = (await crawl.pages()).filter(({ kind }) => kind === 'sitemap');
  return sitemaps.map(({ url }) => url).sort();
}

describe('a seed that ends', () => {
  test('adds the sitemaps that its robots.txt names, on whatever host, and /sitemap.xml', async () => {
    const { crawl, seed } = await begin(
      {},
      'Sitemap: http://a.test/one.xml\nUser-agent: *\nDisallow:\nSITEMAP:http://cdn.test/two.xml # ours\nSitemap: ftp://a.test/\n',
    );
    const domains = await end(crawl, seed);
    expect(await sitemapsOf(crawl)).toEqual(['http://a.test/one.xml', ROOT, 'http://cdn.test/two.xml']);
    expect(domains).toContain('cdn.test');
  });

  test('adds /sitemap.xml also if its robots.txt names none or is missing', async () => {
    for (const robots of [null, 'User-agent: *\nDisallow: /x']) {
      const { crawl, seed } = await begin({}, robots);
      await end(crawl, seed, { report: failure('Blocked4xx') });
      expect(await sitemapsOf(crawl)).toEqual([ROOT]);
      expect(await crawl.page(ROOT)).toMatchObject({
        kind: 'sitemap',
        status: 'Pending',
        depth: 0,
        isSeed: false,
      });
    }
  });

  test('adds none if the crawl is limited to its seeds', async () => {
    const { crawl, seed } = await begin({ maxDepth: 0 });
    await end(crawl, seed);
    expect(await sitemapsOf(crawl)).toEqual([]);
  });

  test('adds none if it has ended already, or while its robots.txt is unknown', async () => {
    const { crawl, seed } = await begin();
    await crawl.record(seed);
    const none = { domains: [], skipped: {} };
    expect(await registerAnnouncedSitemaps(db(), crawl.settings, 'host', seed?.pageId ?? '')).toEqual(none);
    const unknown = await startCrawl(db(), { seeds: ['http://unknown.test/'], sitemaps: true });
    const [page] = await unknown.admit();
    expect(await end(unknown, page)).toEqual([]);
    expect([...(await sitemapsOf(crawl)), ...(await sitemapsOf(unknown))]).toEqual([]);
  });

  test('turns a page that a link to its sitemap added before into a sitemap', async () => {
    const { crawl, seed } = await begin();
    await crawl.add(ROOT, 'http://a.test/other.xml');
    await end(crawl, seed);
    expect(await sitemapsOf(crawl)).toEqual([ROOT]);
  });
});

describe('an entry', () => {
  test('is admitted in the order in which its sitemap lists it', async () => {
    const { crawl, sitemap } = await readSitemap();
    const listed = Array.from({ length: 20 }, (_, n) => `http://a.test/${n}`);
    await list(crawl, sitemap, ...listed.map((url) => page(url)));
    expect((await crawl.admit()).map(({ url }) => url)).toEqual(listed);
  });

  test('enters the frontier once, at depth 1, with its date and the sitemap that lists it', async () => {
    const { crawl, sitemap } = await readSitemap();
    const dated = new Date('2024-05-01T00:00:00Z');
    for (let time = 0; time < 2; time += 1)
      await list(
        crawl,
        sitemap,
        page('http://a.test/x', dated),
        page('http://a.test/'),
        page('http://a.test/x'),
      );
    expect(await crawl.urls()).toEqual(['http://a.test/', ROOT, 'http://a.test/x']);
    expect(await crawl.page('http://a.test/x')).toMatchObject({
      kind: 'page',
      depth: 1,
      lastmod: dated,
      foundOnId: BigInt(sitemap.pageId),
    });
  });

  test('updates the date of a known page, to the latest of several', async () => {
    const { crawl, sitemap } = await readSitemap();
    const [old, young] = [new Date('2024-05-01'), new Date('2024-06-01')];
    await list(crawl, sitemap, page('http://a.test/', young), page('http://a.test/', old));
    await list(crawl, sitemap, page('http://a.test/', old));
    expect((await crawl.page('http://a.test/')).lastmod).toEqual(young);
  });

  test('is not added if it is out of scope, whichever sitemap lists it', async () => {
    const { crawl, sitemap } = await readSitemap({ scope: 'host' });
    await list(crawl, sitemap, page('http://b.test/'), page('http://a.test/in'));
    expect(await crawl.urls()).toEqual(['http://a.test/', 'http://a.test/in', ROOT]);
  });

  test('that is not added is counted with its reason in the crawl’s progress', async () => {
    const { crawl, sitemap } = await readSitemap({
      scope: 'host',
      exclude: ['/private/*'],
      maxPagesPerDomain: 2,
      urls: { ...NO_RULES, maxLength: 40 },
    });
    const skipped = await list(
      crawl,
      sitemap,
      page('http://b.test/'),
      page('http://a.test/private/1'),
      page('http://a.test/private/2'),
      page(`http://a.test/${'a'.repeat(40)}`),
      page('http://a.test/in'),
      page('http://a.test/full'),
      further('http://b.test/sitemap.xml'),
    );
    const expected = { 'out of scope': 2, excluded: 2, 'too long': 1, 'domain full': 1 };
    expect(skipped).toEqual(expected);
    await crawl.record(sitemap, { parsed: { ...linksTo(), linksFound: 7, listed: { skipped } } });
    expect((await crawl.page(ROOT)).linksSkipped).toEqual(expected);
    expect((await readProgress(db(), crawl.id))?.skipped).toEqual(expected);
  });

  test('of a sitemap that has ended in the meantime is not added', async () => {
    const { crawl, sitemap } = await readSitemap();
    await cancelIdlePages(db(), crawl.id, async () => false);
    await list(crawl, sitemap, page('http://a.test/late'));
    expect(await crawl.urls()).toEqual(['http://a.test/', ROOT]);
  });
});

describe('an index', () => {
  test('adds sitemaps in scope or on its own host, up to one more level of index', async () => {
    const { crawl, sitemap } = await readSitemap({ scope: 'host' });
    await list(crawl, sitemap, further('http://a.test/1.xml'), further('http://elsewhere.test/2.xml'));
    await crawl.record(sitemap);
    const second = await nextSitemap(crawl, 'second');
    expect(second?.url).toBe('http://a.test/1.xml');
    if (second === undefined) return;
    await list(crawl, second, further('http://a.test/3.xml'));
    await crawl.record(second);
    const third = await nextSitemap(crawl, 'third');
    expect(third?.url).toBe('http://a.test/3.xml');
    if (third === undefined) return;
    const skipped = await list(crawl, third, further('http://a.test/4.xml'), page('http://a.test/x'));
    expect(skipped).toEqual({ 'too many sitemap indexes in a row': 1 });
    expect(await sitemapsOf(crawl)).toEqual(['http://a.test/1.xml', 'http://a.test/3.xml', ROOT]);
    expect((await crawl.page('http://a.test/x')).depth).toBe(1);
  });
});

describe('sitemaps', () => {
  test('are admitted one at a time per domain', async () => {
    const { crawl, sitemap } = await readSitemap();
    await list(crawl, sitemap, further('http://a.test/1.xml'), further('http://a.test/2.xml'));
    expect(await nextSitemap(crawl, 'too soon')).toBeUndefined();
    await crawl.record(sitemap);
    const next = await nextSitemap(crawl, 'next');
    expect(next?.url).toMatch(/[12]\.xml$/);
    expect(await nextSitemap(crawl, 'next')).toEqual(next);
    expect(await nextSitemap(crawl, 'another')).toBeUndefined();
  });

  test('do not change the budget, however they end', async () => {
    const { crawl, sitemap } = await readSitemap({ maxPages: 10 });
    expect(await crawl.reserved()).toBe(1);
    await list(crawl, sitemap, ...numbered(3).map((url) => page(url)), further('http://a.test/1.xml'));
    await crawl.record(sitemap, { report: failure('Blocked4xx') });
    await crawl.admit();
    expect(await crawl.reserved()).toBe(4);
    await nextSitemap(crawl);
    await cancelIdlePages(db(), crawl.id, async () => false);
    expect(await crawl.reserved()).toBe(1);
  });

  test('are not admitted once the crawl has found as many pages as it may fetch', async () => {
    const { crawl, sitemap } = await readSitemap({ maxPages: 5, window: 2 });
    const more = further('http://a.test/1.xml');
    await list(crawl, sitemap, ...numbered(3).map((url) => page(url)), more);
    await crawl.record(sitemap);
    const first = await nextSitemap(crawl, 'hungry');
    expect(first?.url).toBe(more.url);
    if (first === undefined) return;
    await list(crawl, first, page('http://a.test/last'), further('http://a.test/2.xml'));
    await crawl.record(first);
    expect(await nextSitemap(crawl, 'enough')).toBeUndefined();
    // A page that is not fetched makes room for the entries of another sitemap.
    const [gone] = (await crawl.pages()).filter(({ status }) => status === 'Queued');
    await crawl.record(gone && { pageId: gone.id.toString() }, { report: failure('Blocked4xx') });
    expect((await nextSitemap(crawl, 'hungry again'))?.url).toBe('http://a.test/2.xml');
  });

  test('stay sitemaps when they redirect', async () => {
    const { crawl, sitemap } = await readSitemap();
    await crawl.record(sitemap, { report: redirectTo('http://a.test/moved.xml') });
    expect(await sitemapsOf(crawl)).toEqual(['http://a.test/moved.xml', ROOT]);
  });

  test('that redirect to a page do not turn it into a sitemap', async () => {
    const { crawl, sitemap } = await readSitemap();
    await crawl.record(sitemap, { report: redirectTo('http://a.test/welcome') });
    expect(await crawl.page(ROOT)).toMatchObject({
      status: 'Redirected',
      reason: 'not followed: the target does not look like a sitemap',
    });
    expect(await crawl.urls()).toEqual(['http://a.test/', ROOT]);
  });

  test('do not count as pages, but keep a crawl open', async () => {
    const { crawl, sitemap } = await readSitemap();
    expect(await countPages(db(), crawl.id)).toEqual({ pages: { Fetched: 1 }, found: 1 });
    expect(await hasOpenPages(db(), crawl.id)).toBe(true);
    await crawl.record(sitemap);
    expect(await hasOpenPages(db(), crawl.id)).toBe(false);
  });
});

test('20 batches of the same pages, and the pages themselves, are recorded at once without a deadlock', async () => {
  const { crawl, sitemap } = await readSitemap();
  await crawl.add(...numbered(20));
  const under = await crawl.admit();
  const targets = numbered(300);
  await atOnce(40, (n) => {
    const turned = [...targets.slice(n * 7), ...targets.slice(0, n * 7)];
    return n % 2 === 0
      ? list(crawl, sitemap, ...turned.map((url) => page(url, new Date(Date.UTC(2024, 0, n + 1)))))
      : crawl.record(under[(n - 1) / 2], { parsed: linksTo(...turned) }).then(() => undefined);
  });
  expect(await crawl.statuses()).toEqual({ Fetched: 21, Pending: 280 });
});
