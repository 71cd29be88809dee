import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

describe('rules per domain', () => {
  let amble: Amble;
  let web: TestWeb;

  beforeAll(async () => {
    amble = await startAmble();
    const careful = flatSite(3, (path) =>
      path === '/robots.txt'
        ? { headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nCrawl-delay: 0.3' }
        : undefined,
    );
    web = await startWeb({ plain: flatSite(3), slow: flatSite(3), 'www.slow': flatSite(3), careful });
    await amble.crawl({
      ...web.network,
      seeds: ['plain', 'slow', 'www.slow', 'careful'].map((host) => web.url(host)),
      delay: '100ms',
      domains: {
        [web.name('slow')]: { delay: '400ms' },
        [web.name('careful')]: { delay: '20ms', concurrency: 3 },
      },
    });
  });
  afterAll(async () => {
    await amble?.stop();
    await web?.stop();
  });

  /** The gap that each request had to keep, except the first two, which came before the Crawl-delay was known. */
  async function gapsHeld(host: string): Promise<number[]> {
    const requests = await amble.db.request.findMany({
      where: { domain: web.name(host) },
      orderBy: { startedAt: 'asc' },
    });
    expect(requests).toHaveLength(5);
    return requests.slice(2).map(({ minGapMs }) => minGapMs);
  }

  it('replace the crawl’s delay for their domain and its subdomains only', async () => {
    expect(await gapsHeld('plain')).toEqual([100, 100, 100]);
    expect(await gapsHeld('slow')).toEqual([400, 400, 400]);
    expect(await gapsHeld('www.slow')).toEqual([400, 400, 400]);
  });

  it('do not shorten a Crawl-delay', async () => {
    expect(await gapsHeld('careful')).toEqual([300, 300, 300]);
  });
});

describe('an installation that keeps one gap per host', () => {
  let amble: Amble;
  beforeAll(async () => {
    amble = await startAmble();
  });
  afterAll(() => amble?.stop());

  it('refuses a crawl with another politeness key, with the reason', async () => {
    const crawl = await amble.start({ seeds: ['http://a.test/'], politenessKey: 'site' });
    const failure = await crawl.result().catch((error: Error) => error.cause);
    expect(failure).toMatchObject({
      type: 'BadInput',
      message: expect.stringMatching(
        /^The crawl asks for one gap per site, but this installation keeps one per host/,
      ),
    });
    expect(await amble.db.crawl.count()).toBe(0);
  });
});
