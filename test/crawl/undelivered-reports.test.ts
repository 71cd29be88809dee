/** Reports and records of requests reach the throttle and the database, whatever happens to the worker that sent them. */
import { inspect } from 'node:util';
import { Client, type WorkflowClientInterceptor } from '@temporalio/client';
import { temporal } from '@temporalio/proto';
import { afterAll, afterEach, beforeAll, expect, it } from 'vitest';
import type { Deps } from '../../activities/index.ts';
import type { ThrottleView } from '../../src/throttle/view.ts';
import type { ContentStore } from '../../src/worker/content-store.ts';
import { pageWorkflowId, throttleId } from '../../workflows/ids.ts';
import { cancelCrawlUpdate, releaseSignal, stateQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { type Site, startWeb, type TestWeb } from '../support/web.ts';

/** Faults that a test can turn on: how often Postgres fails to record a request, and how often no report can be sent. */
const noFaults = () => ({
  /** When this process was stalled last (performance.now()). */
  stalledAt: Number.NEGATIVE_INFINITY,
  failedReports: 0,
  failedRecords: 0,
  beforeSignalFails: async (): Promise<void> => {},
  beforePut: async (): Promise<void> => {},
});
const faults = noFaults();

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  amble = await startAmble({ tuning: { robots: { retryMs: 3_600_000 } } }, undefined, undefined, withFaults);
});
afterAll(() => amble?.stop());
afterEach(async () => {
  Object.assign(faults, noFaults());
  await web?.stop();
  await expectPolite(amble.db);
});

function withFaults(own: Deps): Deps {
  const { connection, options } = own.client;
  const failIfWanted = async ({ signalName }: { signalName: string }) => {
    if (faults.failedReports === 0 || signalName !== releaseSignal.name) return;
    faults.failedReports -= 1;
    await faults.beforeSignalFails();
    throw new Error('The throttle cannot be reached.');
  };
  const interceptor: WorkflowClientInterceptor = {
    async signal(input, next) {
      await failIfWanted(input);
      await next(input);
    },
    async signalWithStart(input, next) {
      await failIfWanted(input);
      return next(input);
    },
  };
  const store: ContentStore = {
    ...own.store,
    put: async (body, options) => {
      await faults.beforePut();
      return own.store.put(body, options);
    },
  };
  const db = new Proxy(own.db, {
    get(target, key) {
      if (key !== '$executeRaw') return Reflect.get(target, key);
      const asked: Deps['db']['$executeRaw'] = async (...statement) => {
        const isRecord = inspect(statement).includes('INSERT INTO requests');
        if (!isRecord || faults.failedRecords === 0) return target.$executeRaw(...statement);
        faults.failedRecords -= 1;
        throw Object.assign(new Error('read ECONNRESET'), { code: 'ECONNRESET' });
      };
      return asked;
    },
  });
  return {
    ...own,
    db,
    store,
    client: new Client({
      connection,
      namespace: options.namespace,
      interceptors: { workflow: [interceptor] },
    }),
    lag: { ...own.lag, laggedSince: (since) => faults.stalledAt >= since || own.lag.laggedSince(since) },
  };
}

async function crawl(site: Site, input: Record<string, unknown> = {}) {
  web = await startWeb({ site });
  return amble.crawl({
    seeds: [web.url('site')],
    ...web.network,
    fetch: { headersTimeout: '500ms' },
    ...input,
  });
}

const throttle = () => amble.client.workflow.getHandle(throttleId(web.name('site'))).query(stateQuery);

/** A report that is no news arrives with the next ask, or a few seconds later. */
const expectStats = (stats: Partial<ThrottleView['stats']>) =>
  expect.poll(async () => (await throttle()).stats, { timeout: 20_000 }).toMatchObject(stats);

const attemptsOf = (crawlId: string) => amble.db.pageCrawl.findMany({ where: { page: { crawlId } } });

const requestsOf = (crawlId: string) =>
  amble.db.request.findMany({ where: { crawlId }, orderBy: { startedAt: 'asc' } });

/** Does not respond the first time, because this process is stalled. */
function lateOnce(slow: string): Site {
  return (path, { count }) => {
    if (path === slow && count === 1) faults.stalledAt = performance.now();
    if (path === slow && count === 1) return { body: 'too late', afterMs: 20_000 };
    return path === '/' ? { body: 'a page' } : undefined;
  };
}

it('a timeout while this process was stalled costs no attempt and teaches the throttle nothing', async () => {
  const { pages, crawlId } = await crawl(lateOnce('/'));
  expect(pages).toEqual({ Fetched: 1 });
  expect(await attemptsOf(crawlId)).toMatchObject([{ attempt: 1, outcome: 'Success' }]);
  const paths = (await requestsOf(crawlId)).map(({ url }) => new URL(url).pathname);
  expect(paths).toEqual(['/robots.txt', '/', '/']);
  await expectStats({
    started: 3,
    broken: 0,
    recentResponses: ['not-found', 'ok'],
  });
});

it('a robots.txt that timed out while this process was stalled does not defer the pages of its site', async () => {
  // If they were deferred, this test would time out.
  const { pages, crawlId } = await crawl(lateOnce('/robots.txt'));
  expect(pages).toEqual({ Fetched: 1 });
  const paths = (await requestsOf(crawlId)).map(({ url }) => new URL(url).pathname);
  expect(paths).toEqual(['/robots.txt', '/robots.txt', '/']);
  await expectStats({
    started: 3,
    broken: 0,
    recentResponses: ['not-found', 'ok'],
  });
}, 30_000);

it('a Retry-After reaches the throttle through the page if the fetch cannot deliver it', async () => {
  const { pages } = await crawl(
    (path) => {
      if (path !== '/') return undefined;
      faults.failedReports = 1;
      return { status: 500, headers: { 'retry-after': '3600' } };
    },
    { retry: { maximumAttempts: 1 } },
  );
  expect(pages).toEqual({ Failed: 1 });
  const { phase, blockedUntil, now, stats } = await throttle();
  expect(phase).toBe('blocked');
  expect((blockedUntil ?? 0) - now).toBeGreaterThan(3_000_000);
  expect(stats).toMatchObject({ started: 2, lost: 0, overloaded: 1 });
});

const pathsOf = async (crawlId: string) =>
  (await requestsOf(crawlId)).map(({ url, purpose }) => [new URL(url).pathname, purpose]);

it('a request for robots.txt is recorded even if Postgres was unavailable when the response came', async () => {
  const { pages, crawlId } = await crawl((path, { count }) => {
    if (path === '/robots.txt' && count === 1) faults.failedRecords = 3;
    return path === '/' ? { body: 'a page' } : undefined;
  });
  expect(pages).toEqual({ Fetched: 1 });
  expect(faults.failedRecords).toBe(0);
  expect(web.arrivals.map(({ path }) => path)).toEqual(['/robots.txt', '/']);
  expect(await pathsOf(crawlId)).toEqual([
    ['/robots.txt', 'robots'],
    ['/', 'page'],
  ]);
});

it('so is the request of a page whose response did not count', async () => {
  const { pages, crawlId } = await crawl((path, visit) => {
    if (path === '/' && visit.count === 1) faults.failedRecords = 3;
    return lateOnce('/')(path, visit);
  });
  expect(pages).toEqual({ Fetched: 1 });
  expect(faults.failedRecords).toBe(0);
  expect(await pathsOf(crawlId)).toEqual([
    ['/robots.txt', 'robots'],
    ['/', 'page'],
    ['/', 'page'],
  ]);
});

it('a Retry-After for a page that is being cancelled reaches the throttle, and its request is recorded', async () => {
  web = await startWeb({
    site: (path) => {
      if (path !== '/') return undefined;
      faults.failedReports = 1;
      return { status: 503, headers: { 'retry-after': '3600' } };
    },
  });
  const crawl = await amble.start({ seeds: [web.url('site')], ...web.network });
  faults.beforeSignalFails = async () => {
    await crawl.executeUpdate(cancelCrawlUpdate, { args: [null] });
    const page = await amble.db.page.findFirstOrThrow({ where: { crawlId: crawl.workflowId } });
    const id = pageWorkflowId(crawl.workflowId, {
      ...page,
      urlHash: Buffer.from(page.urlHash).toString('hex'),
    });
    const events = async () =>
      (await amble.client.workflow.getHandle(id).fetchHistory()).events?.map(({ eventType }) => eventType);
    const { EVENT_TYPE_WORKFLOW_EXECUTION_CANCEL_REQUESTED: asked } = temporal.api.enums.v1.EventType;
    await expect.poll(events, { timeout: 20_000 }).toContain(asked);
  };
  await crawl.result();
  expect(await throttle()).toMatchObject({ phase: 'blocked', stats: { started: 2, lost: 0, overloaded: 1 } });
  expect(await pathsOf(crawl.workflowId)).toEqual([
    ['/robots.txt', 'robots'],
    ['/', 'page'],
  ]);
});

it('the slot is free for the next page while the last body waits to be stored', async () => {
  let [asked, put] = [0, 0];
  let goOn = (): void => {};
  const secondAsked = new Promise<void>((resolve) => {
    goOn = resolve;
  });
  faults.beforePut = async () => {
    put += 1;
    if (put === 1) await secondAsked;
  };
  const site: Site = (path) => {
    if (path === '/robots.txt') return undefined;
    asked += 1;
    if (asked === 2) goOn();
    return { body: `the page at ${path}` };
  };
  web = await startWeb({ site });
  const seeds = ['/', '/other'].map((path) => web.url('site', path));
  const { pages } = await amble.crawl({ seeds, ...web.network });
  expect(pages).toEqual({ Fetched: 2 });
  await expectStats({ started: 3, lost: 0 });
}, 30_000);
