/** As record.ts: pages that have to ask again, and what faults of ours and of others lead to. */
import { describe, expect, it } from 'vitest';
import { lookAfterAll } from '../../src/storage/crawls.ts';
import { startAmble } from '../support/amble.ts';
import { type PausedDomain, pauseDomain } from '../support/paused-domain.ts';
import { flatSite, type Site, startWeb } from '../support/web.ts';
import {
  amble,
  crawlTo,
  input,
  keepLastRuns,
  onAmble,
  onWeb,
  pageHandle,
  storyOfPage,
  web,
} from './recording.ts';

const PATIENTLY = { timeout: 30_000 };

const inLine = ({ state }: PausedDomain, tickets: number) =>
  expect.poll(async () => (await state()).waiting, PATIENTLY).toBe(tickets);

const arrived = (path: string) => expect.poll(() => web.arrivalsAt('site', path).length, PATIENTLY).toBe(1);

/** So large that it is parsed in a thread, which has no time to do it. */
const UNWIELDY = `<title>Large</title>${'<p>and so on</p>'.repeat(50_000)}`;

const robotsMovedTo =
  (where: () => string | null): Site =>
  (path) => {
    const location = where();
    if (path === '/robots.txt' && location !== null) return { status: 301, headers: { location } };
    return path === '/' ? { body: 'A page.' } : undefined;
  };

describe('where pages soon ask again, and a fetch is soon missed', () => {
  onAmble(() =>
    startAmble({
      tuning: {
        asking: { slackMs: 300 },
        heartbeatMs: 1_000,
        throttle: {
          startWindowMs: 1_000,
          maxStartWindowMs: 1_000,
          outageRetryMs: 1_500,
          maxOutageRetryMs: 1_500,
        },
        robots: { retryMs: 100, maxRetryMs: 100 },
      },
    }),
  );

  it('asked-again', () =>
    onWeb(flatSite(1), async () => {
      const site = await pauseDomain(amble, web.name('site'));
      const crawl = await amble.start(input('/1'));
      await inLine(site, 1);
      await site.restart();
      await inLine(site, 1);
      await site.resume();
      await crawl.result();
      await keepLastRuns('asked-again', crawl.workflowId, '/1');
    }));

  it('restarted', () =>
    onWeb(flatSite(1), async () => {
      const site = await pauseDomain(amble, web.name('site'));
      const crawl = await amble.start(input('/1'));
      await inLine(site, 1);
      await (await pageHandle(crawl.workflowId, '/1')).terminate();
      await lookAfterAll(amble.db, crawl.workflowId);
      await inLine(site, 2);
      await site.resume();
      await crawl.result();
      await keepLastRuns('restarted', crawl.workflowId, '/1');
    }));

  it('robots-moved', () =>
    onWeb(
      robotsMovedTo(() => web.url('there', '/robots.txt')),
      () => crawlTo('robots-moved', '/'),
      { there: () => ({ headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /x' }) },
    ));

  it('robots-hop-down', async () => {
    const gone = await startWeb({ gone: flatSite(0) });
    await gone.stop();
    let there: string | null = gone.url('gone', '/robots.txt');
    await onWeb(
      robotsMovedTo(() => there),
      async () => {
        const resolve = [...web.network.resolve, ...gone.network.resolve];
        const crawl = await amble.start({ ...input(), resolve });
        await expect
          .poll(() => storyOfPage(crawl.workflowId, '/').catch(() => []), PATIENTLY)
          .toContain('local acquireSlot down');
        there = null;
        await crawl.result();
        await keepLastRuns('robots-hop-down', crawl.workflowId);
      },
    );
  });

  it('robots-hop-left', () =>
    onWeb(
      robotsMovedTo(() => web.url('there', '/robots.txt')),
      async () => {
        const there = await pauseDomain(amble, web.name('there'));
        const crawl = await amble.start({ ...input(), fetch: { totalTimeout: '1s' } });
        await expect
          .poll(() => storyOfPage(crawl.workflowId, '/').catch(() => []), PATIENTLY)
          .toContain('signals withdraw');
        await there.resume();
        await crawl.result();
        await keepLastRuns('robots-hop-left', crawl.workflowId);
      },
      { there: () => ({ headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /x' }) },
    ));

  /** What locks the row stands for a database that is away: the step is tried for five seconds, and then apart. */
  it('fallen-back', () =>
    onWeb(
      (path) => (path === '/' ? { body: 'A page.', afterMs: 1_000 } : undefined),
      async () => {
        const crawl = await amble.start(input());
        await arrived('/');
        await amble.db.atomically(async (tx) => {
          await tx.$queryRaw`SELECT id FROM pages WHERE crawl_id = ${crawl.workflowId} FOR UPDATE`;
          await expect
            .poll(() => storyOfPage(crawl.workflowId, '/'), PATIENTLY)
            .toContain('scheduled digestPage');
        });
        await crawl.result();
        await keepLastRuns('fallen-back', crawl.workflowId);
      },
    ));

  /** To the server a worker that stands still is one that was killed. */
  it('lost', () =>
    onWeb(
      (path, { count }) =>
        path === '/' ? { body: 'A page.', ...(count === 1 && { afterMs: 10_000 }) } : undefined,
      async () => {
        const crawl = await amble.start(input());
        await arrived('/');
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
        await crawl.result();
        await keepLastRuns('lost', crawl.workflowId);
      },
    ));
});

describe('where a line is short and patience with a document ends at once', () => {
  onAmble(() => startAmble({ tuning: { parseTimeoutMs: 1, throttle: { queueLimit: 1 } } }));

  it('full', () =>
    onWeb(flatSite(2), async () => {
      const site = await pauseDomain(amble, web.name('site'));
      const crawl = await amble.start(input('/1', '/2'));
      const sentAway = async (path: string) =>
        (await storyOfPage(crawl.workflowId, path)).includes('local acquireSlot full');
      const oneIs = async () => (await sentAway('/1')) || (await sentAway('/2'));
      await expect.poll(() => oneIs().catch(() => false), PATIENTLY).toBe(true);
      const path = (await sentAway('/1')) ? '/1' : '/2';
      await site.resume();
      await crawl.result();
      await keepLastRuns('full', crawl.workflowId, path);
    }));

  it('poisoned', () =>
    onWeb(
      (path) => (path === '/' ? { body: UNWIELDY } : undefined),
      () => crawlTo('poisoned', '/'),
    ));
});
