/** The fetcher of a news archive: a few large, sometimes slow sites. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { throttleId } from '../../workflows/ids.ts';
import { stateQuery } from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';
import { gapsOf, pageOf, SHORT_TUNING, shortened, waitsOf } from './support.ts';

const { input, settings } = shortened('news');

const LATENCY_MS = 800;
const GONE = Array.from({ length: 10 }, (_, n) => `/${n}`);
const STORIES = Array.from({ length: 12 }, (_, n) => `/story/${n}`);

describe('the preset news', () => {
  let amble: Amble;
  let web: TestWeb;
  /** Refuses connections. */
  let unreachable: TestWeb;
  let crawlId: string;
  let pages: Record<string, number>;

  beforeAll(async () => {
    amble = await startAmble({
      maxOutage: '8s',
      tuning: {
        ...SHORT_TUNING,
        throttle: { ...SHORT_TUNING.throttle, outageRetryMs: 5_000, maxOutageRetryMs: 60_000 },
        robots: { retryMs: 50, maxRetryMs: 100 },
      },
    });
    web = await startWeb({
      daily: (path, { count }) => {
        if (path === '/') return { body: links('/flaky', '/dead') };
        if (path === '/flaky') return count <= 12 ? { status: 503 } : { body: '<title>At last</title>' };
        return path === '/dead' ? { status: 502 } : undefined;
      },
      slow: (path) => (path === '/' ? { body: links(...STORIES) } : { body: 'A story', afterMs: LATENCY_MS }),
    });
    unreachable = await startWeb({ gone: () => undefined });
    await unreachable.refuseConnections();
    const seeds = [web.url('daily'), web.url('slow'), ...GONE.map((path) => unreachable.url('gone', path))];
    const resolve = [...web.network.resolve, ...unreachable.network.resolve];
    ({ crawlId, pages } = await amble.crawl({ ...input, ...web.network, resolve, seeds }));
  });
  afterAll(async () => {
    await amble?.stop();
    await web?.stop();
    await unreachable?.stop();
  });

  it('retries soft errors hourly, up to 12 times', async () => {
    const flaky = await pageOf(amble, crawlId, web.url('daily', '/flaky'));
    expect(flaky).toMatchObject({ status: 'Fetched', attempts: 13, title: 'At last' });
    for (const wait of waitsOf(flaky)) expect(wait).toBeGreaterThanOrEqual(settings.retry.initialIntervalMs);
    const dead = await pageOf(amble, crawlId, web.url('daily', '/dead'));
    expect(dead).toMatchObject({ status: 'Failed', attempts: 13, reason: 'Status 502.' });
  });

  it('opens several requests to a slow site, never more than its concurrency, and their starts keep the gap', async () => {
    const starts = STORIES.flatMap((path) => web.arrivalsAt('slow', path).map(({ atMs }) => atMs));
    const openAt = (ms: number) => starts.filter((at) => at <= ms && ms < at + LATENCY_MS).length;
    const open = starts.map(openAt);
    expect(Math.max(...open)).toBeGreaterThan(1);
    expect(Math.max(...open)).toBeLessThanOrEqual(4);
    for (const { ms } of await gapsOf(amble, web.name('slow')))
      expect(ms).toBeGreaterThanOrEqual(settings.delay.minMs);
  });

  it('slows down for a slow site, to about two open requests', async () => {
    const gaps = (await gapsOf(amble, web.name('slow'))).map(({ minGapMs }) => minGapMs);
    for (const gap of gaps.slice(-5)) {
      expect(gap).toBeGreaterThan(LATENCY_MS / 3);
      expect(gap).toBeLessThan(LATENCY_MS);
    }
  });

  it('defers the pages of an unreachable site instead of trying each of them', async () => {
    const attempts = await amble.db.pageCrawl.findMany({
      where: { page: { crawlId, domain: unreachable.name('gone') } },
    });
    // Its robots.txt was never read, so no page was ever allowed. Each is given up with one attempt.
    expect(attempts.map(({ errorKind }) => errorKind)).toEqual(Array(GONE.length).fill('robots'));
    const throttle = amble.client.workflow.getHandle(throttleId(unreachable.name('gone')));
    const { stats } = await throttle.query(stateQuery);
    expect(stats.unreachable).toBeLessThan(GONE.length);
  });

  it('records statistics for every page', async () => {
    expect(pages).toEqual({ Fetched: 15, Failed: 1, Blocked: GONE.length });
    const outcomes = await amble.db.pageCrawl.groupBy({
      by: ['outcome', 'statusCode'],
      where: { page: { crawlId } },
      _count: true,
    });
    const counts = Object.fromEntries(
      outcomes.map(({ outcome, statusCode, _count }) => [`${outcome} ${statusCode}`, _count]),
    );
    expect(counts).toEqual({
      'Success 200': 15,
      'Blocked5xx 503': 12,
      'Blocked5xx 502': 13,
      'BlockedRobots null': GONE.length,
    });
  });
});
