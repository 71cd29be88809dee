/** Crawls of sites that are overloaded, unreachable for a while, or endless. */
import { afterAll, beforeAll, describe, expect, it, type TestContext, vi } from 'vitest';
import { throttleId } from '../../workflows/ids.ts';
import { stateQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { flatSite, links, type Site, startWeb, type TestWeb } from '../support/web.ts';

/** Far more attempts than any of these sites needs. */
const PATIENT = { retry: { initialInterval: '100ms', maximumAttempts: 30 } };

let amble: Amble;

beforeAll(async () => {
  amble = await startAmble({
    maxOutage: '4s',
    tuning: {
      throttle: { outageRetryMs: 1_000, maxOutageRetryMs: 1_000, maxBackoffMs: 1_500 },
      robots: { retryMs: 50, maxRetryMs: 100 },
      crawl: { longWaitMs: 50 },
    },
  });
});
afterAll(async () => {
  await expectPolite(amble.db);
  await amble.stop();
});

/** A web of the test's own: most of these tests wait, so that several run at a time. */
async function serve(site: Site, { onTestFinished }: TestContext): Promise<TestWeb> {
  const web = await startWeb({ site });
  onTestFinished(() => web.stop());
  return web;
}

const stateOf = (web: TestWeb) =>
  amble.client.workflow.getHandle(throttleId(web.name('site'))).query(stateQuery);
const attemptsOf = (crawlId: string) =>
  amble.db.pageCrawl.findMany({ where: { page: { crawlId } }, include: { page: true } });

describe('a site that answers 429', () => {
  it.concurrent('is requested ever less often until it recovers, and every page is fetched', async (context) => {
    let refusals = 3;
    const web = await serve(
      flatSite(4, (path) => (/\d/.test(path) && refusals-- > 0 ? { status: 429 } : undefined)),
      context,
    );
    const { pages, crawlId } = await amble.crawl({ seeds: [web.url('site')], ...web.network, ...PATIENT });
    expect(pages).toEqual({ Fetched: 5 });

    const requests = await amble.db.request.findMany({ where: { crawlId }, orderBy: { startedAt: 'asc' } });
    const gaps = requests.map(({ minGapMs }) => minGapMs);
    // robots.txt, the front page and three 429s, then the pages. Slots that were reserved meanwhile keep the longer gap.
    expect(gaps.slice(0, 6)).toEqual([50, 50, 50, 1_000, 1_500, 1_500]);
    requests.slice(1).forEach((request, i) => {
      const before = requests[i]?.startedAt.getTime() ?? 0;
      expect(request.startedAt.getTime() - before).toBeGreaterThanOrEqual(request.minGapMs);
    });
    // The report of the last request is held until another page asks, or for some seconds.
    await context.expect
      .poll(() => stateOf(web), { timeout: 20_000 })
      .toMatchObject({ stats: { overloaded: 3 }, recent: { requests: 9, failures: 3 } });
  });

  it.concurrent('to several requests in flight together backs off once, not once for each', async (context) => {
    const web = await serve(
      flatSite(4, (path, { count }) =>
        /\d/.test(path) && count === 1 ? { status: 429, afterMs: 4_000 } : undefined,
      ),
      context,
    );
    const seeds = ['/1', '/2', '/3', '/4'].map((path) => web.url('site', path));
    const { pages, crawlId } = await amble.crawl({ seeds, ...web.network, ...PATIENT, concurrency: 4 });
    expect(pages).toEqual({ Fetched: 4 });

    const requests = await amble.db.request.findMany({ where: { crawlId }, orderBy: { startedAt: 'asc' } });
    const [, first, second, third, fourth, next] = requests;
    // The last of them started before the first response.
    expect(Number(fourth?.startedAt)).toBeLessThan(Number(first?.startedAt) + (first?.durationMs ?? 0));
    const gaps = [first, second, third, fourth, next].map((request) => request?.minGapMs);
    expect(gaps).toEqual([50, 50, 50, 50, 1_000]);
    expect(await stateOf(web)).toMatchObject({ stats: { overloaded: 4 } });
  });

  it.concurrent('with Retry-After gets no request for that long', async (context) => {
    const web = await serve(
      flatSite(3, (path, { count }) =>
        path === '/' && count === 1 ? { status: 429, headers: { 'retry-after': '1' } } : undefined,
      ),
      context,
    );
    const { pages } = await amble.crawl({
      seeds: [web.url('site'), web.url('site', '/1')],
      ...web.network,
      ...PATIENT,
    });
    expect(pages).toEqual({ Fetched: 4 });
    const times = web.arrivals.map(({ atMs }) => atMs);
    const refusedAt = web.arrivalsAt('site', '/')[0]?.atMs ?? 0;
    const next = times.find((at) => at > refusedAt) ?? 0;
    expect(next - refusedAt).toBeGreaterThanOrEqual(1_000);
  });
});

describe('a site that refuses connections', () => {
  it.concurrent('is probed by one page at a time for two crawls, and serves both when it is back', async (context) => {
    const web = await serve(flatSite(5), context);
    const [front, ...seeds] = ['/', '/1', '/2', '/3'].map((path) => web.url('site', path));
    // robots.txt is read before the outage.
    await amble.crawl({ seeds: [front], ...web.network, maxPages: 1 });
    await web.refuseConnections();
    const crawls = await Promise.all(
      [1, 2].map(() => amble.start({ seeds, ...web.network, ...PATIENT, delay: '20ms' })),
    );
    await vi.waitFor(async () => expect((await stateOf(web)).stats.unreachable).toBeGreaterThanOrEqual(3), {
      timeout: 20_000,
    });
    await web.acceptConnections();
    const results = await Promise.all(crawls.map((crawl) => crawl.result()));
    expect(results.map(({ pages }) => pages)).toEqual([{ Fetched: 3 }, { Fetched: 3 }]);

    const attempts = (await Promise.all(crawls.map(({ workflowId }) => attemptsOf(workflowId)))).flat();
    const inVain = attempts.filter(({ outcome }) => outcome !== 'Success').length;
    expect(inVain).toBe((await stateOf(web)).stats.unreachable);
    expect(inVain).toBeGreaterThanOrEqual(3);
  });

  it.concurrent('and never comes back fails its pages with a reason, and never blocks the crawl', async (context) => {
    const web = await serve(flatSite(0), context);
    await amble.crawl({ seeds: [web.url('site')], ...web.network, maxPages: 1 });
    await web.refuseConnections();
    const seeds = ['/', '/a', '/b'].map((path) => web.url('site', path));
    const { pages, crawlId } = await amble.crawl({ seeds, ...web.network, ...PATIENT });
    await web.acceptConnections();
    expect(pages).toEqual({ Failed: 3 });
    for (const { reason, failedAt } of await amble.db.page.findMany({ where: { crawlId } })) {
      expect(reason).toMatch(/was refused.* Given up after [\d.]+ s without a connection\.$/);
      expect(failedAt).not.toBeNull();
    }
    const lasts = (await attemptsOf(crawlId)).filter(({ nextAttemptAt }) => nextAttemptAt === null);
    expect(lasts.map(({ outcome, errorKind }) => [outcome, errorKind])).toEqual(
      Array(3).fill(['Failed', 'down']),
    );
  });

  it.concurrent('and was given up by one crawl gets as much time from the next one', async (context) => {
    const web = await serve(flatSite(0), context);
    await amble.crawl({ seeds: [web.url('site')], ...web.network, maxPages: 1 });
    await web.refuseConnections();
    const again = { seeds: [web.url('site')], ...web.network, ...PATIENT };
    await amble.crawl(again);
    const { pages, crawlId } = await amble.crawl(again);
    await web.acceptConnections();
    expect(pages).toEqual({ Failed: 1 });
    const last = (await attemptsOf(crawlId)).find(({ nextAttemptAt }) => nextAttemptAt === null);
    expect(last?.errorKind).toBe('down');
    const waitedMs = Number(last?.finishedAt) - Number(last?.page.createdAt);
    expect(waitedMs).toBeGreaterThanOrEqual(amble.config.throttle.outageGiveUpMs);
  });

  it.concurrent.for<[problem: string, at: (url: string) => string, why: RegExp]>([
    ['never comes back', (url: string) => url, /The connection to .* was refused/],
    [
      'fails the TLS handshake',
      (url: string) => url.replace('http:', 'https:'),
      /(No secure connection|TLS handshake)/,
    ],
  ])(
    'and %s, before its robots.txt could be read, finally has its pages blocked, with a reason',
    async ([_, at, why], context) => {
      const web = await serve(flatSite(0), context);
      // A TLS failure needs a server.
      if (at('http:') === 'http:') await web.refuseConnections();
      const seeds = ['/', '/a', '/b'].map((path) => at(web.url('site', path)));
      const { pages, crawlId } = await amble.crawl({ seeds, ...web.network, ...PATIENT });
      if (at('http:') === 'http:') await web.acceptConnections();
      expect(pages).toEqual({ Blocked: 3 });
      const rows = await amble.db.page.findMany({ where: { crawlId } });
      for (const { reason } of rows) {
        // The outage of the site and that of its robots.txt end together; either may be noticed first.
        expect(reason).toMatch(/^robots\.txt (was never read|of https?:\S+): /);
        expect(reason).toMatch(why);
        expect(reason).toMatch(/Given up after [\d.]+ s without (a connection|it)\.$/);
      }
      expect((await attemptsOf(crawlId)).map(({ outcome, errorKind }) => [outcome, errorKind])).toEqual(
        Array(3).fill(['BlockedRobots', 'robots']),
      );
      expect(web.arrivals).toEqual([]);
    },
  );
});

it.concurrent('links to the longest host names end with a page or a reason, and the crawl ends', async (context) => {
  const hostOf = (length: number) => `${`${'a'.repeat(49)}.`.repeat(6).slice(0, length - 5)}.test`;
  const urls: string[] = [];
  const web = await serve((path) => (path === '/' ? { body: links(...urls) } : undefined), context);
  const { port } = new URL(web.url('site'));
  urls.push(...[246, 247, 250, 253, 254, 300].map((length) => `http://${hostOf(length)}:${port}/`));
  const resolve = [246, 247, 250, 253].map((length) => `${hostOf(length)}:127.0.0.1`);
  const { pages, crawlId } = await amble.crawl({
    seeds: [web.url('site')],
    ...web.network,
    resolve: [...web.network.resolve, ...resolve],
    scope: 'any',
  });
  expect(pages).toEqual({ Fetched: 1, Failed: 4 });
  const rows = await amble.db.page.findMany({ where: { crawlId }, orderBy: { id: 'asc' } });
  expect(rows.map(({ url }) => url)).toEqual([web.url('site'), ...urls.slice(0, 4)]);
  expect(rows.map(({ statusCode }) => statusCode)).toEqual([200, 404, 404, 404, 404]);
  // What DNS does not allow is no link.
  expect(rows[0]).toMatchObject({ linksFound: 4, linksSkipped: null });
});

describe('a site with endless host names', () => {
  const HOSTS = 30;
  const LIMIT = 5;

  it.concurrent('gets as many hosts as the limit, and the links to the others are counted', async () => {
    const names = Array.from({ length: HOSTS }, (_, n) => `h${n}`);
    const next = (n: number) => names.slice(n + 1, n + 11).map((name) => trap.url(name));
    const endless =
      (n: number): Site =>
      (path) => {
        if (path === '/') return { body: links(...next(n), '/old') };
        return path === '/old' ? { status: 301, headers: { location: trap.url(`h${n + 20}`) } } : undefined;
      };
    const sites = Object.fromEntries(names.map((name, n) => [name, endless(n)]));
    const trap = await startWeb(sites, 'home.arpa');
    try {
      const { pages, crawlId } = await amble.crawl({
        seeds: [trap.url('h0')],
        ...trap.network,
        traps: { maxHostsPerSite: LIMIT },
      });
      const reached = names.slice(0, 1 + LIMIT);
      expect(pages).toEqual({ Fetched: reached.length, Redirected: reached.length });
      expect(new Set(trap.arrivals.map(({ host }) => host))).toEqual(new Set(reached));
      const rows = await amble.db.page.findMany({ where: { crawlId }, orderBy: { id: 'asc' } });
      const domains = new Set(rows.map(({ domain }) => domain));
      expect(domains).toEqual(new Set(reached.map((name) => trap.name(name))));
      expect(await amble.db.domain.count({ where: { name: { endsWith: trap.name('').slice(1) } } })).toBe(
        reached.length,
      );

      const fronts = rows.filter(({ status }) => status === 'Fetched');
      // Of ten names that each page links to, those up to the limit are known.
      expect(fronts.map(({ linksSkipped }) => linksSkipped)).toEqual(
        reached.map((_, n) => ({ 'too many hosts of the site': 10 - (LIMIT - n) })),
      );
      for (const { reason } of rows.filter(({ status }) => status === 'Redirected'))
        expect(reason).toBe('not followed: too many hosts of the site');
    } finally {
      await trap.stop();
    }
  });
});
