import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { throttleId } from '../../workflows/ids.ts';
import { setDelayUpdate } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { shortGapsOnArrival } from '../support/gaps.ts';
import { flatSite, startWeb } from '../support/web.ts';

describe('one throttle per domain', () => {
  let amble: Amble;
  beforeAll(async () => {
    amble = await startAmble();
  });
  afterAll(() => amble?.stop());

  it('makes two crawls of one site share its gap', async () => {
    const web = await startWeb({ shared: flatSite(10) });
    try {
      const input = { seeds: [web.url('shared')], ...web.network, delay: '150ms' };
      const results = await Promise.all([amble.crawl(input), amble.crawl(input)]);
      expect(results.map((result) => result.pages)).toEqual([{ Fetched: 11 }, { Fetched: 11 }]);
      // 2 x 11 pages and one robots.txt.
      expect(web.arrivals).toHaveLength(23);
      expect(shortGapsOnArrival(web.arrivals, () => 150)).toEqual([]);
    } finally {
      await web.stop();
    }
  });

  it('keeps the longer delay of two crawls between their requests', async () => {
    const web = await startWeb({ mixed: flatSite(4) });
    try {
      const input = { seeds: [web.url('mixed')], ...web.network };
      await Promise.all([
        amble.crawl({ ...input, delay: '50ms' }),
        amble.crawl({ ...input, delay: '300ms' }),
      ]);
      const requests = await amble.db.request.findMany({
        where: { domain: web.name('mixed') },
        orderBy: { startedAt: 'asc' },
      });
      const crawls = new Set(requests.map((request) => request.crawlId));
      expect(crawls.size).toBe(2);
      requests.slice(1).forEach((request, i) => {
        const before = requests[i];
        if (before === undefined) return;
        if (before.crawlId === request.crawlId) return;
        expect(request.startedAt.getTime() - before.startedAt.getTime()).toBeGreaterThanOrEqual(300);
      });
    } finally {
      await web.stop();
    }
  });

  it('applies a Crawl-delay from the next request', async () => {
    const robots = { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nCrawl-delay: 0.4' };
    const web = await startWeb({
      slow: flatSite(3, (path) => (path === '/robots.txt' ? robots : undefined)),
    });
    try {
      await amble.crawl({ seeds: [web.url('slow')], ...web.network, delay: '50ms' });
      expect(web.arrivals.map(({ path }) => path).slice(0, 2)).toEqual(['/robots.txt', '/']);
      expect(shortGapsOnArrival(web.arrivals, () => 400)).toEqual([]);
    } finally {
      await web.stop();
    }
  });

  it('reads its row again if a later execution has opened it, as after a restore of Temporal', async () => {
    const web = await startWeb({ restored: flatSite(5) });
    const domain = web.name('restored');
    try {
      const crawl = amble.crawl({ seeds: [web.url('restored')], ...web.network, delay: '300ms' });
      await expect.poll(() => web.arrivals.length, { timeout: 30_000, interval: 10 }).toBeGreaterThan(2);
      // Leases of this version are void from now on.
      await amble.db.$executeRaw`UPDATE domains SET epoch = epoch + 1, valid_from = 5 WHERE name = ${domain}`;
      await amble.client.workflow
        .getHandle(throttleId(domain))
        .executeUpdate(setDelayUpdate, { args: ['200ms', null] });
      expect(await crawl).toMatchObject({ pages: { Fetched: 6 } });
      expect(await amble.db.order.findMany({ where: { domain } })).toMatchObject([{ kind: 'delay' }]);
      expect(await amble.db.domain.findUnique({ where: { name: domain } })).toMatchObject({
        ...{ epoch: 3, validFrom: 5, delayMinMs: 200 },
      });
      expect(shortGapsOnArrival(web.arrivals, () => 200)).toEqual([]);
    } finally {
      await web.stop();
    }
  });
});
