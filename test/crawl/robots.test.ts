import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { throttleId } from '../../workflows/ids.ts';
import { throttleQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb } from '../support/web.ts';

describe('robots.txt', () => {
  let amble: Amble;
  beforeAll(async () => {
    amble = await startAmble({
      robots: { hold: '200ms', maxHold: '400ms', giveUp: '3s' },
      throttle: { maxBackoff: '10ms' },
    });
  });
  afterAll(() => amble?.stop());

  it('that stays out of reach holds its pages back and at last blocks them all, so that the crawl ends', async () => {
    const web = await startWeb({
      broken: (path) => (path === '/robots.txt' ? { status: 503 } : { body: 'never' }),
    });
    try {
      const seeds = ['/', '/a', '/b'].map((path) => web.url('broken', path));
      const { pages, crawlId } = await amble.crawl({ seeds, ...web.network });
      expect(pages).toEqual({ Blocked: 3 });
      expect(web.arrivals.every(({ path }) => path === '/robots.txt')).toBe(true);
      const attempts = await amble.db.pageCrawl.findMany({ where: { page: { crawlId } } });
      expect(attempts.map(({ outcome }) => outcome)).toEqual(Array(3).fill('BlockedRobots'));
    } finally {
      await web.stop();
    }
  });

  it('that answers again in time costs its pages nothing', async () => {
    const broken = flatSite(2, (path, { count }) =>
      path === '/robots.txt' && count < 3 ? { status: 503 } : undefined,
    );
    const web = await startWeb({ broken });
    try {
      const { pages } = await amble.crawl({ seeds: [web.url('broken')], ...web.network });
      expect(pages).toEqual({ Fetched: 3 });
      expect(web.arrivals.slice(0, 3).map(({ path }) => path)).toEqual(Array(3).fill('/robots.txt'));
    } finally {
      await web.stop();
    }
  });

  it('that moved to another host is read there, and its Crawl-delay holds for the host it was asked of', async () => {
    const text = { headers: { 'content-type': 'text/plain' } };
    const web = await startWeb({
      old: flatSite(2, (path) =>
        path === '/robots.txt'
          ? { status: 301, headers: { location: web.url('moved', '/robots.txt') } }
          : undefined,
      ),
      moved: (path) =>
        path === '/robots.txt'
          ? { ...text, body: 'User-agent: *\nDisallow: /2\nCrawl-delay: 0.3' }
          : undefined,
    });
    try {
      const { pages } = await amble.crawl({ seeds: [web.url('old')], ...web.network, delay: '10ms' });
      expect(pages).toEqual({ Fetched: 2, Blocked: 1 });
      expect(web.arrivalsAt('old', '/2')).toEqual([]);
      const delayOf = async (host: string) =>
        (await amble.client.workflow.getHandle(throttleId(web.name(host))).query(throttleQuery)).crawlDelayMs;
      expect(await delayOf('old')).toBe(300);
      expect(await delayOf('moved')).toBe(0);
    } finally {
      await web.stop();
    }
  });
});
