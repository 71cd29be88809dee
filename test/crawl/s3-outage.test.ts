/** A crawl whose bucket fails: pages wait as with a full disk. */
import { test } from 'vitest';
import { openS3Store } from '../../src/worker/s3-store.ts';
import { startAmble } from '../support/amble.ts';
import { testEngines } from '../support/engines.ts';
import { startS3Server } from '../support/s3-server.ts';
import { flatSite, startWeb } from '../support/web.ts';

const PAGES = 6;

/** Instead of half a minute. */
const TIMEOUT_MS = 1_000;

// Together, because a page that was put off waits for ten seconds.
test.concurrent.for(['slow-down', 'forbidden', 'unreadable', 'silent', 'gone'] as const)(
  'pages wait while the bucket is %s, and none is requested twice or loses an attempt',
  async (fault, { expect }) => {
    const s3 = await startS3Server();
    const web = await startWeb({ site: flatSite(PAGES) });
    const env = { AWS_ENDPOINT_URL: s3.endpoint, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
    const isUnavailable: (() => boolean)[] = [];
    const amble = await startAmble(
      { env, contentStore: 's3://crawls', logLevel: 'silent' },
      testEngines(),
      undefined,
      (deps) => {
        const { contentStore } = deps.config;
        if (contentStore.kind !== 's3') throw new Error('not a bucket');
        isUnavailable.push(() => deps.dependencies.store.unavailable);
        return { ...deps, store: openS3Store(contentStore, TIMEOUT_MS) };
      },
    );
    try {
      // The worker looks at it as it starts.
      await expect.poll(() => s3.requests).toContain('GET crawls/probe');
      if (fault === 'gone') await s3.stop();
      else s3.fail(fault);
      const crawl = await amble.start({ seeds: [web.url('site', '/')], ...web.network });
      await expect.poll(() => isUnavailable.some((is) => is()), { timeout: 30_000 }).toBe(true);
      expect(web.arrivalsAt('site', '/'), 'the body has arrived').toHaveLength(1);
      expect(await amble.db.page.count({ where: { status: 'Fetched' } })).toBe(0);
      if (fault === 'gone') await s3.start();
      else s3.fail('none');
      expect(await crawl.result()).toMatchObject({ pages: { Fetched: PAGES + 1 } });
      expect(await amble.db.page.findMany({ where: { attempts: { not: 1 } } })).toEqual([]);
      expect(web.arrivalsAt('site').filter(({ path }) => path !== '/robots.txt')).toHaveLength(PAGES + 1);
      const rows = await amble.db.page.findMany({ select: { contentHash: true } });
      const stored = [...s3.objects.keys()].join();
      for (const { contentHash } of rows) expect(stored).toContain(contentHash);
    } finally {
      await amble.stop();
      await Promise.all([web.stop(), s3.stop()]);
    }
  },
);
