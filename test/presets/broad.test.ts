/** A broad crawler: hundreds of domains, a little of each. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, links, type Site, startWeb, type TestWeb } from '../support/web.ts';
import { gapsOf, pageOf, SHORT_TUNING, shortened } from './support.ts';

const { input, settings } = shortened('broad');

const SMALL = Array.from({ length: 8 }, (_, n) => `small${n}`);
const HUGE_PAGES = 48;

describe('the preset broad', () => {
  let amble: Amble;
  let web: TestWeb;
  let crawlId: string;
  let pages: Record<string, number>;
  /** Most pages of one domain that were queued at a time. */
  let mostOpen = 0;

  beforeAll(async () => {
    amble = await startAmble({ tuning: SHORT_TUNING });
    const sites: Record<string, Site> = {
      hub: (path) =>
        path === '/' ? { body: links(...['huge', ...SMALL].map((host) => web.url(host))) } : undefined,
      huge: flatSite(HUGE_PAGES),
    };
    for (const host of SMALL)
      sites[host] = flatSite(2, (path) =>
        path === '/2' ? { status: 301, headers: { location: '/1' } } : undefined,
      );
    web = await startWeb(sites);
    const crawl = await amble.start({ ...input, ...web.network, seeds: [web.url('hub')] });
    crawlId = crawl.workflowId;
    const watching = setInterval(() => void look(), 100);
    const look = async () => {
      const open = await amble.db.page.groupBy({
        by: ['domain'],
        where: { crawlId, status: 'Queued' },
        _count: true,
      });
      mostOpen = Math.max(mostOpen, ...open.map(({ _count }) => _count));
    };
    try {
      ({ pages } = await crawl.result());
    } finally {
      clearInterval(watching);
      await look();
    }
  });
  afterAll(async () => {
    await amble?.stop();
    await web?.stop();
  });

  it('crawls every domain it finds, and accounts for all pages', () => {
    expect(pages).toEqual({ Fetched: 1 + (HUGE_PAGES + 1) + 2 * SMALL.length, Redirected: SMALL.length });
  });

  it('queues only a few pages of a huge domain at a time', () => {
    expect(mostOpen).toBeGreaterThan(1);
    expect(mostOpen).toBeLessThanOrEqual(4);
  });

  it('finishes the small domains while the huge one continues', () => {
    const lastOf = (host: string) => web.arrivalsAt(host).at(-1)?.atMs ?? 0;
    const small = Math.max(...SMALL.map(lastOf));
    const hugeLeft = web.arrivalsAt('huge').filter(({ atMs }) => atMs > small).length;
    expect(hugeLeft).toBeGreaterThan(HUGE_PAGES / 4);
  });

  it('keeps a short gap', async () => {
    for (const host of ['huge', 'small0'])
      for (const { ms } of await gapsOf(amble, web.name(host)))
        expect(ms).toBeGreaterThanOrEqual(settings.delay.minMs);
  });

  it('records depth, redirects and the content’s hash', async () => {
    const moved = await pageOf(amble, crawlId, web.url('small0', '/2'));
    expect(moved).toMatchObject({ status: 'Redirected', depth: 2, redirectTo: web.url('small0', '/1') });
    expect((await pageOf(amble, crawlId, web.url('small0', '/1'))).contentHash).toMatch(/^[0-9a-f]{64}$/);
  });
});
