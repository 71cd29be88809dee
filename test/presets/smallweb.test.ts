/** A small-web crawler: personal sites on small servers. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';
import { gapsOf, pageOf, SHORT_TUNING, shortened, waitsOf } from './support.ts';

const { input, settings } = shortened('smallweb');

describe('the preset smallweb', () => {
  let amble: Amble;
  let web: TestWeb;
  let crawlId: string;
  let pages: Record<string, number>;

  beforeAll(async () => {
    amble = await startAmble({ tuning: SHORT_TUNING });
    web = await startWeb({
      blog: (path) => {
        if (path === '/') return { body: `<title>Blog</title>${links('/1', '/2', '/gone', '/down')}` };
        if (path === '/down') return { status: 500 };
        return path === '/gone' ? undefined : { body: '<title>Post</title>' };
      },
      slow: (path) => {
        if (path === '/robots.txt')
          return { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nCrawl-delay: 0.4' };
        return { body: links('/1', '/2') };
      },
    });
    const result = await amble.crawl({
      ...input,
      ...web.network,
      seeds: [web.url('blog'), web.url('slow')],
    });
    ({ crawlId, pages } = result);
  });
  afterAll(async () => {
    await amble?.stop();
    await web?.stop();
  });

  it('keeps ten seconds between requests to one domain, or its Crawl-delay if that is longer', async () => {
    const blog = await gapsOf(amble, web.name('blog'));
    const slow = await gapsOf(amble, web.name('slow'));
    expect(blog.length).toBe(web.arrivalsAt('blog').length - 1);
    for (const gap of blog) expect(gap.ms).toBeGreaterThanOrEqual(settings.delay.minMs);
    expect(slow).toHaveLength(3);
    for (const gap of slow) expect(gap.ms).toBeGreaterThanOrEqual(400);
  });

  it('never lets one domain wait for another', () => {
    const order = web.arrivals.map(({ host }) => host);
    expect(order.lastIndexOf('blog')).toBeGreaterThan(order.indexOf('slow'));
    expect(order.lastIndexOf('slow')).toBeGreaterThan(order.indexOf('blog'));
  });

  it('tries a failing page three times, an hour apart', async () => {
    const down = await pageOf(amble, crawlId, web.url('blog', '/down'));
    expect(down.attempted.map(({ outcome }) => outcome)).toEqual(['Blocked5xx', 'Blocked5xx', 'Blocked5xx']);
    for (const wait of waitsOf(down)) expect(wait).toBeGreaterThanOrEqual(settings.retry.initialIntervalMs);
    expect(down).toMatchObject({ status: 'Failed', failedAt: expect.any(Date) });
  });

  it('does not retry a page that was refused', async () => {
    expect(web.arrivalsAt('blog', '/gone')).toHaveLength(1);
    expect(await pageOf(amble, crawlId, web.url('blog', '/gone'))).toMatchObject({
      status: 'Failed',
      attempts: 1,
    });
  });

  it('finds pages from pages, and accounts for all of them', () => {
    expect(pages).toEqual({ Fetched: 6, Failed: 2 });
  });
});
