import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, type Site, startWeb } from '../support/web.ts';

const SMALL_HOSTS = Array.from({ length: 20 }, (_, i) => `small${i}`);

describe('a huge domain', () => {
  let amble: Amble;
  beforeAll(async () => {
    amble = await startAmble();
  });
  afterAll(() => amble?.stop());

  it('does not delay twenty small ones, and every page has a status after it is cancelled', async () => {
    const sites: Record<string, Site> = { huge: flatSite(299) };
    for (const host of SMALL_HOSTS) sites[host] = flatSite(4);
    const web = await startWeb(sites);
    try {
      const seeds = ['huge', ...SMALL_HOSTS].map((host) => web.url(host));
      const crawl = await amble.start({ seeds, ...web.network, delay: '300ms' });
      const open = () =>
        amble.db.page.count({
          where: {
            crawlId: crawl.workflowId,
            domain: { not: web.name('huge') },
            status: { in: ['Pending', 'Queued', 'Waiting'] },
          },
        });
      await expect.poll(() => web.arrivals.length, { timeout: 20_000 }).toBeGreaterThan(40);
      await expect.poll(open, { timeout: 60_000, interval: 200 }).toBe(0);
      const huge = await amble.db.page.count({
        where: { crawlId: crawl.workflowId, domain: web.name('huge'), status: 'Fetched' },
      });
      for (const host of SMALL_HOSTS) expect(web.arrivalsAt(host)).toHaveLength(6);
      // If the small ones had waited for it, most of its 300 pages would be done.
      expect(huge).toBeLessThan(100);

      await crawl.cancel();
      await expect(crawl.result()).rejects.toThrow();
      const rows = await amble.db.page.groupBy({
        by: ['status'],
        where: { crawlId: crawl.workflowId },
        _count: true,
      });
      const counts = Object.fromEntries(rows.map((row) => [row.status, row._count]));
      expect(Object.keys(counts).sort()).toEqual(['Cancelled', 'Fetched']);
      expect((counts.Cancelled ?? 0) + (counts.Fetched ?? 0)).toBe(400);
      expect((await amble.db.crawl.findUniqueOrThrow({ where: { id: crawl.workflowId } })).status).toBe(
        'Cancelled',
      );
    } finally {
      await web.stop();
    }
  });
});
