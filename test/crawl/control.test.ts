import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  cancelCrawlUpdate,
  pauseCrawlUpdate,
  progressQuery,
  resumeCrawlUpdate,
} from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { blockCrawlOpening } from '../support/block-crawl-opening.ts';
import { flatSite, links, type Site, startWeb } from '../support/web.ts';

const PAGES = 20;

let amble: Amble;
beforeAll(async () => {
  amble = await startAmble();
});
afterAll(() => amble?.stop());

async function countsOf(crawlId: string): Promise<Record<string, number>> {
  const rows = await amble.db.page.groupBy({ by: ['status'], where: { crawlId }, _count: true });
  return Object.fromEntries(rows.map((row) => [row.status, row._count]));
}

function underWay(crawlId: string): Promise<number> {
  return amble.db.page.count({ where: { crawlId, status: { in: ['Queued', 'Waiting'] } } });
}

/** Two front pages, each with pages of its own, so that a request shows which crawl sent it. */
const twoSections: Site = (path) => {
  const [, section, page] = path.split('/');
  if (section !== 'one' && section !== 'two') return undefined;
  if (page === '') return { body: links(...Array.from({ length: PAGES }, (_, i) => `/${section}/${i + 1}`)) };
  return { body: '<title>A page</title>' };
};

describe('a crawl that is paused by its update', () => {
  it('sends no more requests, does not affect another crawl of the site, and completes when resumed', async () => {
    const web = await startWeb({ site: twoSections });
    try {
      const begin = (section: string) =>
        amble.start({ seeds: [web.url('site', `/${section}/`)], ...web.network, delay: '100ms' });
      const arrivalsOf = (section: string) =>
        web.arrivals.filter(({ path }) => path.startsWith(`/${section}/`)).length;
      const one = await begin('one');
      await expect.poll(() => arrivalsOf('one'), { timeout: 20_000 }).toBeGreaterThan(0);
      const two = await begin('two');
      await expect.poll(() => arrivalsOf('two'), { timeout: 20_000 }).toBeGreaterThan(1);

      expect(await one.executeUpdate(pauseCrawlUpdate, { args: [null] })).toMatchObject({ status: 'Paused' });
      await expect.poll(() => underWay(one.workflowId), { timeout: 20_000 }).toBe(0);
      const soFar = arrivalsOf('one');
      expect(soFar).toBeLessThan(PAGES);

      expect(await two.result()).toMatchObject({ pages: { Fetched: PAGES + 1 } });
      expect(arrivalsOf('one')).toBe(soFar);
      expect(await one.query(progressQuery)).toMatchObject({ status: 'Paused', found: PAGES + 1 });
      const aside = await amble.db.page.findFirstOrThrow({
        where: { crawlId: one.workflowId, status: 'Pending', reason: { not: null } },
      });
      expect(aside.reason).toBe('the crawl is paused');

      expect(await one.executeUpdate(resumeCrawlUpdate, { args: [null] })).toMatchObject({
        status: 'Running',
      });
      expect(await one.result()).toMatchObject({ pages: { Fetched: PAGES + 1 } });
      // Nothing was fetched twice.
      expect(arrivalsOf('one')).toBe(PAGES + 1);
      const attempts = await amble.db.pageCrawl.count({ where: { page: { crawlId: one.workflowId } } });
      expect(attempts).toBe(PAGES + 1);
    } finally {
      await web.stop();
    }
  });

  it('stays paused when its workflow is lost and restarted, and pages that are due meanwhile wait too', async () => {
    const web = await startWeb({
      site: flatSite(3, (path, { count }) => (path === '/2' && count === 1 ? { status: 503 } : undefined)),
    });
    try {
      const input = {
        seeds: [web.url('site')],
        ...web.network,
        delay: '50ms',
        retry: { initialInterval: '3s' },
      };
      const crawl = await amble.start(input, `lost-${web.name('site')}`.slice(0, 60));
      const crawlId = crawl.workflowId;
      await expect.poll(() => countsOf(crawlId), { timeout: 20_000 }).toMatchObject({ Fetched: 3 });
      const tried = () =>
        amble.db.page.count({ where: { crawlId, url: web.url('site', '/2'), attempts: 1 } });
      await expect.poll(tried, { timeout: 20_000 }).toBe(1);
      await crawl.executeUpdate(pauseCrawlUpdate, { args: [null] });
      const status = async () => (await amble.db.crawl.findUniqueOrThrow({ where: { id: crawlId } })).status;
      await expect.poll(status).toBe('Paused');
      await crawl.terminate('lost');
      const again = await amble.start(input, crawlId);
      // The retry is due while the crawl is paused.
      await expect.poll(() => underWay(crawlId), { timeout: 20_000 }).toBe(0);
      expect(await countsOf(crawlId)).toEqual({ Fetched: 3, Pending: 1 });
      expect(web.arrivalsAt('site', '/2')).toHaveLength(1);

      await again.executeUpdate(resumeCrawlUpdate, { args: [null] });
      expect(await again.result()).toMatchObject({ pages: { Fetched: 4 } });
      expect(web.arrivalsAt('site', '/2')).toHaveLength(2);
    } finally {
      await web.stop();
    }
  });

  it('returns its pages’ share of the budget, and uses it when resumed', async () => {
    const web = await startWeb({ site: flatSite(30) });
    try {
      const crawl = await amble.start({
        seeds: [web.url('site')],
        ...web.network,
        delay: '100ms',
        maxPages: 8,
      });
      await expect.poll(() => web.arrivalsAt('site').length, { timeout: 20_000 }).toBeGreaterThan(4);
      await crawl.executeUpdate(pauseCrawlUpdate, { args: [null] });
      await expect.poll(() => underWay(crawl.workflowId), { timeout: 20_000 }).toBe(0);
      const { Fetched = 0 } = await countsOf(crawl.workflowId);
      const row = await amble.db.crawl.findUniqueOrThrow({ where: { id: crawl.workflowId } });
      expect(row).toMatchObject({ status: 'Paused', pagesReserved: Fetched });
      await crawl.executeUpdate(resumeCrawlUpdate, { args: [null] });
      expect(await crawl.result()).toMatchObject({ pages: { Fetched: 8, Cancelled: 23 } });
    } finally {
      await web.stop();
    }
  });
});

describe('a crawl that is cancelled by its update', () => {
  it.each([{ paused: false }, { paused: true }])(
    'ends every page with a status, and the counts add up (paused before: $paused)',
    async ({ paused }) => {
      const web = await startWeb({ site: flatSite(PAGES) });
      try {
        const crawl = await amble.start({ seeds: [web.url('site')], ...web.network, delay: '100ms' });
        await expect.poll(() => web.arrivalsAt('site').length, { timeout: 20_000 }).toBeGreaterThan(4);
        if (paused) {
          await crawl.executeUpdate(pauseCrawlUpdate, { args: [null] });
          await expect.poll(() => underWay(crawl.workflowId), { timeout: 20_000 }).toBe(0);
        }
        expect(await crawl.executeUpdate(cancelCrawlUpdate, { args: [null] })).toMatchObject({
          status: 'Cancelling',
        });
        const { pages, found } = await crawl.result();
        expect(Object.keys(pages).sort()).toEqual(['Cancelled', 'Fetched']);
        expect(pages.Cancelled + pages.Fetched).toBe(found);
        expect(found).toBe(PAGES + 1);
        const row = await amble.db.crawl.findUniqueOrThrow({ where: { id: crawl.workflowId } });
        expect(row.status).toBe('Cancelled');
      } finally {
        await web.stop();
      }
    },
  );

  it('while it is being opened leaves no page unattended', async () => {
    const web = await startWeb({ site: flatSite(2) });
    try {
      const crawl = await blockCrawlOpening(amble.db, async ({ untilBlocked }) => {
        const begun = await amble.start({ seeds: [web.url('site')], ...web.network });
        await untilBlocked(1);
        await begun.cancel();
        await untilBlocked(2);
        return begun;
      });
      await expect(crawl.result()).rejects.toThrow();
      const { status } = await amble.db.crawl.findUniqueOrThrow({ where: { id: crawl.workflowId } });
      expect([status, await countsOf(crawl.workflowId)]).toEqual(['Cancelled', { Cancelled: 1 }]);
      expect(web.arrivals).toEqual([]);
    } finally {
      await web.stop();
    }
  });

  it('has recorded every request that its site received, also those in flight', async () => {
    const hosts = ['a', 'b', 'c', 'd'];
    const slow = flatSite(0, (path) => (path === '/robots.txt' ? undefined : { body: 'late', afterMs: 700 }));
    const web = await startWeb(Object.fromEntries(hosts.map((host) => [host, slow])));
    try {
      const crawl = await amble.start({ seeds: hosts.map((host) => web.url(host)), ...web.network });
      const underWayAt = () => hosts.filter((host) => web.arrivalsAt(host, '/').length > 0).length;
      await expect.poll(underWayAt, { timeout: 20_000, interval: 20 }).toBeGreaterThan(0);
      await crawl.executeUpdate(cancelCrawlUpdate, { args: [null] });
      const { pages } = await crawl.result();
      expect(pages.Cancelled).toBeGreaterThan(0);
      const recorded = await amble.db.request.findMany({ where: { crawlId: crawl.workflowId } });
      expect(recorded.map(({ url }) => url).sort()).toEqual(
        web.arrivals.map(({ host, path }) => web.url(host, path)).sort(),
      );
    } finally {
      await web.stop();
    }
  });

  it('refuses to be paused or resumed, with the reason', async () => {
    const web = await startWeb({ site: flatSite(PAGES, () => ({ afterMs: 2_000 })) });
    try {
      const crawl = await amble.start({ seeds: [web.url('site')], ...web.network });
      await expect.poll(() => web.arrivals.length, { timeout: 20_000 }).toBeGreaterThan(0);
      await crawl.executeUpdate(cancelCrawlUpdate, { args: [null] });
      await expect(crawl.executeUpdate(resumeCrawlUpdate, { args: [null] })).rejects.toMatchObject({
        cause: { message: expect.stringMatching(/is Cancelling: it can no longer be paused or resumed/) },
      });
      await crawl.result();
    } finally {
      await web.stop();
    }
  });
});

describe('a crawl that is cancelled while it starts its pages', () => {
  it('does not wait forever for their start to be confirmed', async () => {
    // As many as one sweep admits.
    const hosts = Array.from({ length: 20 }, (_, n) => `h${n}`);
    const web = await startWeb(Object.fromEntries(hosts.map((host) => [host, flatSite(1)])));
    try {
      const crawl = await amble.start({ seeds: hosts.map((host) => web.url(host)), ...web.network });
      // The sweep that starts them also admits them: the cancellation arrives before the server has confirmed the starts.
      await expect
        .poll(() => underWay(crawl.workflowId), { timeout: 20_000, interval: 1 })
        .toBe(hosts.length);
      await crawl.cancel();
      await expect(crawl.result()).rejects.toThrow();
      const { Cancelled = 0, Fetched = 0, ...others } = await countsOf(crawl.workflowId);
      expect(others).toEqual({});
      expect(Cancelled + Fetched).toBeGreaterThanOrEqual(hosts.length);
    } finally {
      await web.stop();
    }
  });
});
