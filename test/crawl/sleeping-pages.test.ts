import { describe, expect, it, type TestContext } from 'vitest';
import type { TuningChanges } from '../../src/config/index.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb } from '../support/web.ts';

describe('pages that wait for their next attempt', () => {
  async function start(
    crawl: NonNullable<TuningChanges['crawl']>,
    { onTestFinished }: TestContext,
  ): Promise<Amble> {
    // The site's 503s must not slow the test down; backoff is tested elsewhere.
    const amble = await startAmble({ tuning: { throttle: { maxBackoffMs: 10 }, crawl } });
    onTestFinished(() => amble.stop());
    return amble;
  }

  // Together, because both wait for most of their time.
  it.concurrent('do not stop their domain: even with more of them than the window holds, every other page is fetched', async (context) => {
    const amble = await start({ window: 5 }, context);
    // The first ten pages of the site fail and wait for an hour; the window has five places.
    const web = await startWeb({
      site: flatSite(25, (path) =>
        Number(path.slice(1)) >= 1 && Number(path.slice(1)) <= 10 ? { status: 503 } : undefined,
      ),
    });
    try {
      const crawl = await amble.start({
        seeds: [web.url('site')],
        ...web.network,
        delay: '10ms',
        retry: { initialInterval: '1h' },
      });
      const count = (status: 'Fetched' | 'Waiting') =>
        amble.db.page.count({ where: { crawlId: crawl.workflowId, status } });
      await context.expect.poll(() => count('Fetched'), { timeout: 60_000, interval: 200 }).toBe(16);
      await context.expect.poll(() => count('Waiting'), { timeout: 20_000 }).toBe(10);
      const waiting = await amble.db.page.findFirstOrThrow({
        where: { crawlId: crawl.workflowId, status: 'Waiting' },
        include: { attempted: true },
      });
      expect(waiting.reason).toBe('attempt 1 of 3: Status 503.');
      expect(waiting.nextAttemptAt).toEqual(waiting.attempted[0]?.nextAttemptAt);

      await crawl.cancel();
      await expect(crawl.result()).rejects.toThrow();
      expect(await amble.db.page.count({ where: { crawlId: crawl.workflowId, status: 'Cancelled' } })).toBe(
        10,
      );
    } finally {
      await web.stop();
    }
  });

  it.concurrent('wait in the database beyond the allowed number, and are retried when due', async (context) => {
    const amble = await start({ maxWaiting: 2, longWaitMs: 100 }, context);
    const web = await startWeb({
      site: flatSite(8, (path, { count }) =>
        path.startsWith('/') && path.length === 2 && count < 2 ? { status: 503 } : undefined,
      ),
    });
    try {
      const result = await amble.crawl({
        seeds: [web.url('site')],
        ...web.network,
        delay: '10ms',
        retry: { initialInterval: '3s' },
      });
      expect(result.pages).toEqual({ Fetched: 9 });
      const attempts = await amble.db.pageCrawl.groupBy({
        by: ['outcome'],
        _count: true,
        where: { page: { crawlId: result.crawlId } },
      });
      expect(Object.fromEntries(attempts.map((row) => [row.outcome, row._count]))).toEqual({
        Success: 9,
        Blocked5xx: 8,
      });
    } finally {
      await web.stop();
    }
  });
});
