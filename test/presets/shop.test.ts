/** A shop crawler: sites that block clients which come in bursts. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPages } from '../../src/storage/reports/export.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';
import { gapsOf, pageOf, SHORT_TUNING, shortened, waitsOf } from './support.ts';

const { input, settings } = shortened('shop');

const SECOND_SEED_TAKES_MS = 1_000;

function products(keyword: string, count: number): string[] {
  return Array.from({ length: count }, (_, n) => `/product/${keyword}-${n}`);
}

describe('the preset shop', () => {
  let amble: Amble;
  let web: TestWeb;
  let crawlId: string;
  let result: { pages: Record<string, number>; found: number };

  beforeAll(async () => {
    // Pages in the window ask at the same time; with so few of them the order on the wire is that of admission.
    amble = await startAmble({ tuning: { ...SHORT_TUNING, crawl: { ...SHORT_TUNING.crawl, window: 2 } } });
    web = await startWeb({
      lamps: (path) => {
        if (path === '/search?q=lamp') return { body: links(...products('lamp', 12), '/list?page=2') };
        if (path === '/list?page=2') return { body: links('/product/late', '/list?page=3') };
        if (path === '/list?page=3') return { body: links('/about') };
        return path === '/product/lamp-0' ? { status: 503 } : { body: '<title>A lamp</title>' };
      },
      chairs: (path) => {
        if (path !== '/search?q=chair') return { body: '<title>A chair</title>' };
        return { body: links(...products('chair', 3)), afterMs: SECOND_SEED_TAKES_MS };
      },
    });
    const done = await amble.crawl({
      ...input,
      ...web.network,
      seeds: [
        { url: web.url('lamps', '/search?q=lamp'), keyword: 'lamp' },
        { url: web.url('chairs', '/search?q=chair'), keyword: 'chair' },
      ],
    });
    crawlId = done.crawlId;
    result = done;
  });
  afterAll(async () => {
    await amble?.stop();
    await web?.stop();
  });

  it('waits a random time of 5 to 15 seconds between requests', async () => {
    const gaps = await gapsOf(amble, web.name('lamps'));
    expect(gaps.length).toBeGreaterThan(15);
    for (const { ms } of gaps) expect(ms).toBeGreaterThanOrEqual(settings.delay.minMs);
    const drawn = gaps.map(({ minGapMs }) => minGapMs).filter((ms) => ms <= settings.delay.maxMs);
    expect(new Set(drawn).size).toBeGreaterThan(5);
  });

  it('warms up: after its seeds it fetches nothing until 15 pages are pending', () => {
    const [seed] = web.arrivalsAt('chairs', '/search?q=chair');
    const later = web.arrivalsAt('lamps').filter(({ path }) => !/robots|search/.test(path));
    // The 13 pages found from the first seed are too few.
    for (const { atMs } of later) expect(atMs).toBeGreaterThan((seed?.atMs ?? 0) + SECOND_SEED_TAKES_MS);
    expect(later.length).toBeGreaterThan(13);
  });

  it('shuffles the pages it finds', async () => {
    const found = await amble.db.page.findMany({
      where: { crawlId, url: { contains: '/product/lamp' } },
      orderBy: { id: 'asc' },
    });
    const arrived = web.arrivalsAt('lamps').map(({ path }) => path);
    const asFound = found.map(({ url }) => new URL(url).pathname);
    const asFetched = asFound.toSorted((one, other) => arrived.indexOf(one) - arrived.indexOf(other));
    const moved = asFound.map((path, place) => Math.abs(asFetched.indexOf(path) - place));
    expect(moved).toHaveLength(12);
    // In the order they were found, none would move by more than the window.
    expect(Math.max(...moved)).toBeGreaterThan(3);
  });

  it('fetches lists before products, so that discovery continues', async () => {
    const order = web.arrivalsAt('lamps').map(({ path }) => path);
    const rank = (path: string) => order.indexOf(path);
    const productRanks = products('lamp', 12)
      .map(rank)
      .toSorted((one, other) => one - other);
    // Every fifth slot goes to the page that has waited longest, the others by priority.
    expect(rank('/list?page=2')).toBeLessThan(productRanks[2] ?? 0);
    expect(rank('/list?page=3')).toBeLessThan(productRanks.at(-1) ?? 0);
    expect(rank('/about')).toBeGreaterThan(rank('/list?page=3'));
  });

  it('gives each page the type of its URL and the keyword of its seed', async () => {
    const exported = new Map<string, unknown>();
    for await (const { url, type, priority, keyword } of exportPages(amble.db, crawlId))
      exported.set(new URL(url).pathname + new URL(url).search, { type, priority, keyword });
    expect(exported.get('/search?q=lamp')).toEqual({ type: 'search', priority: 1, keyword: 'lamp' });
    expect(exported.get('/list?page=3')).toEqual({ type: 'pagination', priority: 1, keyword: 'lamp' });
    expect(exported.get('/product/late')).toEqual({ type: 'product', priority: 2, keyword: 'lamp' });
    expect(exported.get('/product/chair-0')).toEqual({ type: 'product', priority: 2, keyword: 'chair' });
    expect(exported.get('/about')).toEqual({ type: null, priority: 5, keyword: 'lamp' });
  });

  it('retries three times, after 15, 30 and 60 minutes plus jitter, then fails with the last error', async () => {
    const { initialIntervalMs } = settings.retry;
    const page = await pageOf(amble, crawlId, web.url('lamps', '/product/lamp-0'));
    expect(page).toMatchObject({ status: 'Failed', attempts: 4, reason: 'Status 503.' });
    const waits = waitsOf(page);
    expect(waits).toHaveLength(3);
    waits.forEach((wait, n) => {
      expect(wait).toBeGreaterThanOrEqual(initialIntervalMs * 2 ** n);
    });
  });

  it('completes when every page has succeeded or used up its retries', () => {
    expect(result).toMatchObject({ pages: { Fetched: 20, Failed: 1 }, found: 21 });
  });
});
