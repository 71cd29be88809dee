import { pino } from 'pino';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { exportPages } from '../../src/storage/reports/export.ts';
import { throttleId } from '../../workflows/ids.ts';
import { stateQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { testEngines } from '../support/engines.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { pauseDomain } from '../support/paused-domain.ts';
import { type Answer, flatSite, links, type Site, startWeb, type TestWeb } from '../support/web.ts';

const MAX_CRAWL_DELAY_MS = 400;
const MAX_RETRY_AFTER_MS = 1_000;

/** A robots.txt that fails is soon requested again. */
const TUNING = {
  throttle: { maxBackoffMs: 10 },
  robots: { minFreshMs: 1, retryMs: 100, maxRetryMs: 200 },
};

let amble: Amble;
const logged: string[] = [];

async function start(settings: Record<string, string> = {}): Promise<void> {
  const log = pino({ level: 'warn' }, { write: (line: string) => void logged.push(line) });
  const limits = { maxCrawlDelay: `${MAX_CRAWL_DELAY_MS}ms`, maxRetryAfter: `${MAX_RETRY_AFTER_MS}ms` };
  amble = await startAmble({ tuning: TUNING, ...limits, ...settings }, testEngines(), log);
}

async function stop(): Promise<void> {
  await expectPolite(amble.db);
  await amble.stop();
}

// Several at a time, because most of these tests wait.
describe('robots.txt', () => {
  beforeAll(() => start());
  afterAll(stop);

  it.concurrent('that cannot be read at first costs its pages no attempt', () =>
    onWeb(
      {
        broken: flatSite(2, (path, { count }) =>
          path === '/robots.txt' && count < 4 ? { status: count === 2 ? 429 : 503 } : undefined,
        ),
      },
      async (web) => {
        const { pages, crawlId } = await amble.crawl({ seeds: [web.url('broken')], ...web.network });
        expect(pages).toEqual({ Fetched: 3 });
        expect(web.arrivals.slice(0, 4).map(({ path }) => path)).toEqual(Array(4).fill('/robots.txt'));
        const attempts = await attemptsOf(crawlId);
        expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual(
          Array(3).fill([1, 'Success']),
        );
      },
    ));

  it.concurrent('that is missing or moved counts as such even if the response body is broken', () =>
    onWeb(
      {
        absent: flatSite(1, (path) => (path === '/robots.txt' ? brokenBody({ status: 404 }) : undefined)),
        elsewhere: flatSite(2, (path) => {
          if (path === '/there') return text('User-agent: *\nDisallow: /2');
          return path === '/robots.txt' ? brokenBody(moved('/there')) : undefined;
        }),
        odd: flatSite(1, (path) =>
          path === '/robots.txt'
            ? { status: 410, headers: { 'content-encoding': 'zstd' }, body: 'x' }
            : undefined,
        ),
      },
      async (web) => {
        const seeds = ['absent', 'elsewhere', 'odd'].map((host) => web.url(host));
        const { pages } = await amble.crawl({ seeds, ...web.network });
        expect(pages).toEqual({ Fetched: 6, Blocked: 1 });
        for (const host of ['absent', 'elsewhere', 'odd'])
          expect(web.arrivalsAt(host, '/robots.txt')).toHaveLength(1);
      },
    ));

  it.concurrent('with a Retry-After in a broken response is obeyed', () =>
    onWeb(
      {
        busy: flatSite(0, (path, { count }) =>
          path === '/robots.txt' && count === 1
            ? brokenBody({ status: 503, headers: { 'retry-after': '1' } })
            : undefined,
        ),
      },
      async (web) => {
        const { pages, crawlId } = await amble.crawl({ seeds: [web.url('busy')], ...web.network });
        expect(pages).toEqual({ Fetched: 1 });
        const [first, second] = await requestsOf(crawlId);
        expect([first?.statusCode, second?.statusCode]).toEqual([503, 404]);
        expect(Number(second?.startedAt) - Number(first?.startedAt)).toBeGreaterThanOrEqual(1_000);
        expect((await throttleOf(web.name('busy'))).stats).toMatchObject({ overloaded: 1, broken: 0 });
      },
    ));

  it.concurrent('with a Retry-After above the cap gets the cap, with a warning in the log', () =>
    onWeb(
      {
        weary: flatSite(0, (path, { count }) =>
          path === '/robots.txt' && count === 1
            ? { status: 503, headers: { 'retry-after': '9'.repeat(400) } }
            : undefined,
        ),
      },
      async (web) => {
        const { pages, crawlId } = await amble.crawl({ seeds: [web.url('weary')], ...web.network });
        expect(pages).toEqual({ Fetched: 1 });
        const [first, second] = await requestsOf(crawlId);
        const gapMs = Number(second?.startedAt) - Number(first?.startedAt);
        expect(gapMs).toBeGreaterThanOrEqual(MAX_RETRY_AFTER_MS);
        const lines = logged.filter((line) => line.includes('Retry-After')).map((line) => JSON.parse(line));
        expect(lines).toMatchObject([
          {
            url: web.url('weary', '/robots.txt'),
            retryAfterMs: Number.MAX_SAFE_INTEGER,
            maxRetryAfterMs: MAX_RETRY_AFTER_MS,
          },
        ]);
      },
    ));

  it.concurrent('that is longer than 500 KiB is read up to there', () =>
    onWeb(
      {
        long: flatSite(2, (path) =>
          path === '/robots.txt'
            ? text(`User-agent: *\nDisallow: /2\n${'# and so on\n'.repeat(50_000)}Disallow: /`)
            : undefined,
        ),
      },
      async (web) => {
        const { pages } = await amble.crawl({ seeds: [web.url('long')], ...web.network });
        expect(pages).toEqual({ Fetched: 2, Blocked: 1 });
        expect(web.arrivalsAt('long', '/2')).toEqual([]);
      },
    ));

  it.concurrent('that moved to another host is read there, and its Crawl-delay applies to the first host', async () => {
    const web = await startWeb({
      old: flatSite(2, (path) =>
        path === '/robots.txt' ? moved(web.url('moved', '/robots.txt')) : undefined,
      ),
      moved: (path) =>
        path === '/robots.txt' ? text('User-agent: *\nDisallow: /2\nCrawl-delay: 0.3') : undefined,
    });
    try {
      const { pages } = await amble.crawl({ seeds: [web.url('old')], ...web.network, delay: '10ms' });
      expect(pages).toEqual({ Fetched: 2, Blocked: 1 });
      expect(web.arrivalsAt('old', '/2')).toEqual([]);
      expect(await crawlDelayOf(web.name('old'))).toBe(300);
      expect(await crawlDelayOf(web.name('moved'))).toBe(0);
    } finally {
      await web.stop();
    }
  });

  it.concurrent('that moved to a host that is down is unavailable: its pages are deferred until it can be read', async (context) => {
    const gone = await startWeb({ gone: flatSite(0) });
    await gone.stop();
    let there: string | null = gone.url('gone', '/robots.txt');
    await onWeb(
      { moved: flatSite(2, (path) => (path === '/robots.txt' && there ? moved(there) : undefined)) },
      async (web) => {
        const resolve = [...web.network.resolve, ...gone.network.resolve];
        const crawl = await amble.start({ seeds: [web.url('moved')], ...web.network, resolve });
        const { origin } = new URL(web.url('moved'));
        const row = () => amble.db.robots.findUnique({ where: { origin } });
        await context.expect
          .poll(async () => (await row())?.failures, { timeout: 20_000 })
          .toBeGreaterThan(2);
        const { failures = 0, error } = (await row()) ?? {};
        expect(error).toMatch(/cannot be reached: .*was refused/);
        expect(web.arrivals.length).toBeLessThanOrEqual(failures + 1);
        expect(web.arrivals.every(({ path }) => path === '/robots.txt')).toBe(true);
        there = null;
        expect(await crawl.result()).toMatchObject({ pages: { Fetched: 3 } });
        expect((await attemptsOf(crawl.workflowId)).map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
      },
    );
  });

  it.concurrent('that moved to a paused host is unavailable: its pages are deferred until it can be read', async (context) => {
    const web = await startWeb({
      old: flatSite(2, (path) =>
        path === '/robots.txt' ? moved(web.url('paused', '/robots.txt')) : undefined,
      ),
      paused: () => text('User-agent: *\nDisallow: /2'),
    });
    try {
      const domain = await pauseDomain(amble, web.name('paused'));
      const fetch = { totalTimeout: '1s' };
      const crawl = await amble.start({ seeds: [web.url('old')], ...web.network, fetch });
      const failures = async () => (await robotsOf(web.url('old')).catch(() => null))?.failures;
      await context.expect.poll(failures, { timeout: 20_000 }).toBeGreaterThan(1);
      expect(web.arrivals.every(({ path }) => path === '/robots.txt')).toBe(true);
      await domain.resume();
      expect(await crawl.result()).toMatchObject({ pages: { Fetched: 2, Blocked: 1 } });
      expect((await attemptsOf(crawl.workflowId)).map(({ attempt }) => attempt)).toEqual([1, 1, 1]);
    } finally {
      await web.stop();
    }
  });

  it.concurrent('that is slow delays other pages by at most its timeout', async () => {
    const web = await startWeb({
      old: flatSite(2, (path) =>
        path === '/robots.txt' ? moved(web.url('slow', '/robots.txt')) : undefined,
      ),
      slow: () => ({ ...text('User-agent: *\nDisallow: /2'), afterMs: 2_000 }),
    });
    try {
      const seeds = ['/', '/1', '/2'].map((path) => web.url('old', path));
      // If they waited until the claim expires, that is the longest fetch, this test would time out.
      const { pages } = await amble.crawl({ seeds, ...web.network });
      expect(pages).toEqual({ Fetched: 2, Blocked: 1 });
      expect(web.arrivalsAt('old', '/robots.txt')).toHaveLength(1);
    } finally {
      await web.stop();
    }
  });

  it.concurrent('is followed through five redirects, each with a slot, but not through six', () => {
    const chain =
      (hops: number): Site =>
      (path) => {
        const at = path === '/robots.txt' ? 0 : Number(/^\/hop(\d)$/.exec(path)?.[1]);
        if (Number.isNaN(at)) return { body: 'a page' };
        return at < hops ? moved(`/hop${at + 1}`) : text('User-agent: *\nDisallow: /');
      };
    return onWeb({ five: chain(5), six: chain(6) }, async (web) => {
      const { pages, crawlId } = await amble.crawl({
        seeds: [web.url('five'), web.url('six')],
        ...web.network,
      });
      expect(pages).toEqual({ Fetched: 1, Blocked: 1 });
      expect(web.arrivalsAt('five').map(({ path }) => path)).toEqual([
        '/robots.txt',
        ...[1, 2, 3, 4, 5].map((hop) => `/hop${hop}`),
      ]);
      expect(web.arrivalsAt('six').map(({ path }) => path)).toEqual([
        '/robots.txt',
        ...[1, 2, 3, 4, 5].map((hop) => `/hop${hop}`),
        '/',
      ]);
      const requests = await requestsOf(crawlId);
      expect(requests.filter(({ purpose }) => purpose === 'robots')).toHaveLength(12);
      for (const domain of ['five', 'six'].map(web.name))
        expectGaps(requests.filter((request) => request.domain === domain));
    });
  });

  it.concurrent('that later adds a Crawl-delay is obeyed from the next slot', () =>
    onWeb(
      {
        late: flatSite(8, (path, { count }) => {
          if (path !== '/robots.txt') return undefined;
          const body = count === 1 ? 'User-agent: *\nDisallow:' : 'User-agent: *\nCrawl-delay: 0.25';
          return text(body, { 'cache-control': 'max-age=0' });
        }),
      },
      async (web) => {
        const { pages, crawlId } = await amble.crawl({
          seeds: [web.url('late')],
          ...web.network,
          delay: '10ms',
        });
        expect(pages).toEqual({ Fetched: 9 });
        const requests = await requestsOf(crawlId);
        const learned = requests.findIndex(({ url }, at) => at > 0 && url.endsWith('/robots.txt'));
        expect(learned).toBeGreaterThan(0);
        expect(requests.slice(0, learned + 1).every(({ minGapMs }) => minGapMs < 250)).toBe(true);
        expect(requests.slice(learned + 1).every(({ minGapMs }) => minGapMs === 250)).toBe(true);
        expectGaps(requests);
      },
    ));

  it.concurrent('that is gone takes its Crawl-delay with it', () =>
    onWeb(
      {
        gone: flatSite(3, (path, { count }) =>
          path === '/robots.txt' && count === 1
            ? text('User-agent: *\nCrawl-delay: 0.2', { 'cache-control': 'max-age=0' })
            : undefined,
        ),
      },
      async (web) => {
        await amble.crawl({ seeds: [web.url('gone')], ...web.network });
        expect(web.arrivalsAt('gone', '/robots.txt')).toHaveLength(2);
        expect(await crawlDelayOf(web.name('gone'))).toBe(0);
      },
    ));

  it.concurrent.each([{ productToken: 'Former' }, { domain: 'former.test' }])(
    'that was read for %j is read again, so that the right throttle learns its Crawl-delay',
    (former) =>
      onWeb(
        {
          known: flatSite(0, (path, { count }) =>
            path === '/robots.txt' ? text(count === 1 ? '' : 'User-agent: *\nCrawl-delay: 0.2') : undefined,
          ),
        },
        async (web) => {
          const input = { seeds: [web.url('known')], ...web.network };
          await amble.crawl(input);
          const { origin } = new URL(web.url('known'));
          await amble.db.robots.update({ where: { origin }, data: former });
          await amble.crawl(input);
          expect(await crawlDelayOf(web.name('known'))).toBe(200);
          await amble.crawl(input);
          expect(web.arrivalsAt('known', '/robots.txt')).toHaveLength(2);
        },
      ),
  );

  it.concurrent('with a Crawl-delay above the cap gets the cap, with a warning in the log', () =>
    onWeb(
      {
        slow: flatSite(1, (path) =>
          path === '/robots.txt' ? text('User-agent: *\nCrawl-delay: 7200') : undefined,
        ),
      },
      async (web) => {
        const { pages } = await amble.crawl({ seeds: [web.url('slow')], ...web.network });
        expect(pages).toEqual({ Fetched: 2 });
        expect(await crawlDelayOf(web.name('slow'))).toBe(MAX_CRAWL_DELAY_MS);
        const lines = logged.filter((line) => line.includes('Crawl-delay')).map((line) => JSON.parse(line));
        expect(lines).toMatchObject([
          {
            origin: new URL(web.url('slow')).origin,
            crawlDelayMs: 7_200_000,
            maxCrawlDelayMs: MAX_CRAWL_DELAY_MS,
          },
        ]);
      },
    ));

  it.concurrent('is not the only rule: noindex and nofollow of a header or <meta> are obeyed', () =>
    onWeb(
      {
        site: (path) => {
          const leadsTo = (to: string, more: Answer = {}): Answer => ({ body: links(to), ...more });
          switch (path) {
            case '/':
              return { body: links('/header', '/lines', '/meta', '/other', '/refreshed', '/moved') };
            case '/header':
              return leadsTo('/x1', { headers: { 'x-robots-tag': 'amble: none' } });
            case '/lines':
              return leadsTo('/x2', { headers: { 'x-robots-tag': ['otherbot: noindex', 'nofollow'] } });
            case '/meta':
              return { body: `<meta name="AMBLE" content="noindex, nofollow">${links('/x3')}` };
            case '/other':
              return leadsTo('/y', { headers: { 'x-robots-tag': 'otherbot: none' } });
            case '/refreshed':
              return {
                headers: { 'x-robots-tag': 'nofollow' },
                body: '<meta http-equiv="refresh" content="0; url=/x5">',
              };
            case '/moved':
              return { ...moved('/y'), headers: { location: '/y', 'x-robots-tag': 'nofollow' } };
            case '/y':
              return { body: `<a href="/x4" rel="nofollow">not this</a>` };
            default:
              return undefined;
          }
        },
      },
      async (web) => {
        const { pages, crawlId } = await amble.crawl({ seeds: [web.url('site')], ...web.network });
        expect(pages).toEqual({ Fetched: 7, Redirected: 1 });
        expect(web.arrivals.filter(({ path }) => path.startsWith('/x'))).toEqual([]);
        const noindex: string[] = [];
        for await (const page of exportPages(amble.db, crawlId))
          if (page.noindex) noindex.push(new URL(page.url).pathname);
        expect(noindex.sort()).toEqual(['/header', '/meta']);
        expect(await amble.db.link.count({ where: { page: { crawlId } } })).toBe(12);
      },
    ));
});

describe('robots.txt, with a Retry-After of an hour allowed,', () => {
  beforeAll(() => start({ maxRetryAfter: '1h' }));
  afterAll(stop);

  it.concurrent('that moved to a host with a Retry-After does not stop its pages: the last known rules apply', async () => {
    const web = await startWeb({
      old: flatSite(6, (path, { count }) => {
        if (path !== '/robots.txt') return undefined;
        if (count > 1) return moved(web.url('busy', '/robots.txt'));
        return text('User-agent: *\nDisallow: /2', { 'cache-control': 'max-age=0' });
      }),
      busy: () => ({ status: 503, headers: { 'retry-after': '3600' } }),
    });
    try {
      const blocked = { seeds: [web.url('busy')], ...web.network };
      const busy = await amble.start(blocked);
      await expect
        .poll(() => throttleOf(web.name('busy')).catch(() => null), { timeout: 20_000 })
        .toMatchObject({ phase: 'blocked' });
      await busy.cancel();
      const { pages } = await amble.crawl({ seeds: [web.url('old')], ...web.network });
      expect(pages).toEqual({ Fetched: 6, Blocked: 1 });
      expect(web.arrivalsAt('old', '/robots.txt').length).toBeGreaterThan(1);
      expect(web.arrivalsAt('busy')).toHaveLength(1);
      const { error } = await robotsOf(web.url('old'));
      expect(error).toBe(`No slot for ${web.name('busy')} was free in time.`);
      expect((await throttleOf(web.name('busy'))).waiting).toBe(0);
    } finally {
      await web.stop();
    }
  });
});

describe('robots.txt, with a short time before giving up,', () => {
  beforeAll(() => start({ maxOutage: '500ms' }));
  afterAll(stop);

  it.concurrent('that moves on and on leads to no more hosts than its site may have, and is unavailable then', async () => {
    const names = ['first', 'second', 'third', 'fourth'];
    const next = (n: number): string => web.url(names[n + 1] ?? 'first', '/robots.txt');
    const sites = names.map((name, n) => [
      name,
      flatSite(1, (path) => (path === '/robots.txt' ? moved(next(n)) : undefined)),
    ]);
    // All are hosts of one site.
    const web = await startWeb(Object.fromEntries(sites), 'home.arpa');
    try {
      const { crawlId, pages } = await amble.crawl({
        seeds: [web.url('first')],
        ...web.network,
        traps: { maxHostsPerSite: 2 },
      });
      expect(pages).toEqual({ Blocked: 1 });
      const [attempt] = await attemptsOf(crawlId);
      expect(attempt?.error).toContain('its redirect was not followed: too many hosts of the site');
      expect(new Set(web.arrivals.map(({ host }) => host))).toEqual(new Set(['first', 'second', 'third']));
    } finally {
      await web.stop();
    }
  });

  it.concurrent('that stays unavailable defers its pages and finally blocks them, so that the crawl ends', () =>
    onWeb(
      { broken: (path) => (path === '/robots.txt' ? { status: 503 } : { body: 'never' }) },
      async (web) => {
        const seeds = ['/', '/a', '/b'].map((path) => web.url('broken', path));
        const { pages, crawlId } = await amble.crawl({ seeds, ...web.network });
        expect(pages).toEqual({ Blocked: 3 });
        expect(web.arrivals.length).toBeGreaterThan(1);
        expect(web.arrivals.every(({ path }) => path === '/robots.txt')).toBe(true);
        const attempts = await attemptsOf(crawlId);
        expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual(
          Array(3).fill([1, 'BlockedRobots']),
        );
        for (const { error } of attempts)
          expect(error).toMatch(
            /^robots\.txt of http:.*: It answered 503\. Given up after [\d.]+ m?s without it\./,
          );
      },
    ));

  it.concurrent('that starts to answer 503 keeps its last known rules, however long that lasts', () =>
    onWeb(
      {
        turning: flatSite(15, (path, { count }) => {
          if (path !== '/robots.txt') return undefined;
          return count === 1
            ? text('User-agent: *\nDisallow: /2', { 'cache-control': 'no-cache' })
            : { status: 503 };
        }),
      },
      async (web) => {
        const { pages, crawlId } = await amble.crawl({ seeds: [web.url('turning')], ...web.network });
        expect(pages).toEqual({ Fetched: 15, Blocked: 1 });
        const tries = web.arrivalsAt('turning', '/robots.txt');
        const failingMs = (tries.at(-1)?.atMs ?? 0) - (tries[1]?.atMs ?? 0);
        expect(failingMs).toBeGreaterThan(amble.config.robots.outageGiveUpMs);
        const attempts = await attemptsOf(crawlId);
        expect(new Set(attempts.map(({ attempt }) => attempt))).toEqual(new Set([1]));
      },
    ));
});

async function onWeb(sites: Record<string, Site>, visit: (web: TestWeb) => Promise<void>): Promise<void> {
  const web = await startWeb(sites);
  try {
    await visit(web);
  } finally {
    await web.stop();
  }
}

const attemptsOf = (crawlId: string) =>
  amble.db.pageCrawl.findMany({ where: { page: { crawlId } }, orderBy: { id: 'asc' } });

const requestsOf = (crawlId: string) =>
  amble.db.request.findMany({ where: { crawlId }, orderBy: { startedAt: 'asc' } });

const robotsOf = (url: string) =>
  amble.db.robots.findUniqueOrThrow({ where: { origin: new URL(url).origin } });

const throttleOf = (name: string) => amble.client.workflow.getHandle(throttleId(name)).query(stateQuery);

const crawlDelayOf = async (name: string) => (await throttleOf(name)).crawlDelayMs;

function text(body: string, headers: Record<string, string> = {}): Answer {
  return { body, headers: { 'content-type': 'text/plain', ...headers } };
}

/** The body is truncated. */
function brokenBody({ headers, ...answer }: Answer): Answer {
  return { ...answer, headers: { ...headers, 'content-length': '1000', connection: 'close' }, body: 'half' };
}

function moved(location: string): Answer {
  return { status: 301, headers: { location } };
}

function expectGaps(requests: readonly { startedAt: Date; minGapMs: number }[]): void {
  requests.slice(1).forEach((request, i) => {
    const gap = request.startedAt.getTime() - (requests[i]?.startedAt.getTime() ?? 0);
    expect(gap).toBeGreaterThanOrEqual(request.minGapMs);
  });
}
