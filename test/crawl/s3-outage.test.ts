/** A crawl whose bucket fails: pages wait as with a full disk. */
import { expect, test } from 'vitest';
import { startAmble } from '../support/amble.ts';
import { startS3Server } from '../support/s3-server.ts';
import { flatSite, startWeb } from '../support/web.ts';

test('pages wait while the bucket is unavailable, and none loses an attempt', async () => {
  const PAGES = 6;
  const s3 = await startS3Server();
  const web = await startWeb({ site: flatSite(PAGES) });
  const env = { AWS_ENDPOINT_URL: s3.endpoint, AWS_ACCESS_KEY_ID: 'key', AWS_SECRET_ACCESS_KEY: 'secret' };
  const amble = await startAmble({ env, contentStore: 's3://crawls', logLevel: 'silent' });
  try {
    s3.fail('slow-down');
    const crawl = await amble.start({ seeds: [web.url('site', '/')], ...web.network });
    const bodies = () => s3.requests.filter((request) => request.endsWith('.gz'));
    await expect.poll(() => bodies().length, { timeout: 30_000 }).toBeGreaterThan(0);
    expect(await amble.db.page.count({ where: { status: 'Fetched' } })).toBe(0);
    s3.fail('none');
    expect(await crawl.result()).toMatchObject({ pages: { Fetched: PAGES + 1 } });
    expect(await amble.db.page.findMany({ where: { attempts: { not: 1 } } })).toEqual([]);
    const rows = await amble.db.page.findMany({ select: { contentHash: true } });
    const stored = [...s3.objects.keys()].join();
    for (const { contentHash } of rows) expect(stored).toContain(contentHash);
  } finally {
    await amble.stop();
    await Promise.all([web.stop(), s3.stop()]);
  }
});
