/**
 * `npm run histories`: provokes every situation on real engines, checks that the histories show it, and writes them to
 * test/histories; `npm run histories -- -t 'queued$'` only that one. Not part of the test run, which replays what is written
 * there. What goes wrong is in record-trouble.ts.
 */
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, describe, expect, it } from 'vitest';
import { findTemporalBinary } from '../../src/embedded/temporal-binary.ts';
import {
  cancelCrawlUpdate,
  pauseCrawlUpdate,
  pauseUpdate,
  resetUpdate,
  resumeCrawlUpdate,
  resumeUpdate,
  setDelayUpdate,
} from '../../workflows/messages.ts';
import { startAmble } from '../support/amble.ts';
import { blockCrawlOpening } from '../support/block-crawl-opening.ts';
import { flatSite, links, type Site } from '../support/web.ts';
import { KINDS } from './evidence.ts';
import { attributesOf, beginningOf, type History, storyOf } from './history.ts';
import {
  amble,
  crawlTo,
  historyOf,
  input,
  keep,
  keepLastRuns,
  onAmble,
  onWeb,
  pageHandle,
  storyOfThrottle,
  throttle,
  web,
  workflowsOf,
} from './recording.ts';
import { missingFrom, SITUATIONS } from './situations.ts';

/** Two pages in a row; the second is the one whose history is kept where it is about neither robots.txt nor the seed. */
const chain: Site = (path) => {
  const next = { '/': '/1', '/1': '/2' }[path];
  if (next !== undefined) return { body: links(next) };
  return path === '/2' ? { body: 'The end.' } : undefined;
};

const flaky =
  (failures: number): Site =>
  (path, { count }) => {
    if (path !== '/') return undefined;
    return count <= failures ? { status: 503 } : { body: 'At last.' };
  };

describe('on a server like any other', () => {
  onAmble(() =>
    startAmble({
      tuning: {
        throttle: { maxBackoffMs: 10, outageRetryMs: 1_500, maxOutageRetryMs: 1_500 },
        robots: { retryMs: 100, maxRetryMs: 100 },
        crawl: { longWaitMs: 50 },
      },
    }),
  );

  it('queued', () => onWeb(flatSite(3), () => crawlTo('queued', '/3', { delay: '1500ms' })));

  it('retried', () => onWeb(flaky(1), () => crawlTo('retried', '/')));

  it('redirected', () =>
    onWeb(
      (path) => (path === '/' ? { status: 301, headers: { location: '/new' } } : { body: 'Here.' }),
      () => crawlTo('redirected', '/'),
    ));

  it('held', () =>
    onWeb(
      (path, { count }) =>
        path === '/robots.txt' ? { status: count === 1 ? 503 : 404 } : { body: 'A page.' },
      () => crawlTo('held', '/'),
    ));

  it('sitemap', () =>
    onWeb(
      (path) => {
        if (path === '/') return { body: 'A page.' };
        if (path !== '/sitemap.xml') return undefined;
        return { headers: { 'content-type': 'text/plain' }, body: `${web.url('site', '/listed')}\n` };
      },
      () => crawlTo('sitemap', '/sitemap.xml', { sitemaps: true }),
    ));

  it('cancelled', () =>
    onWeb(flatSite(2), async () => {
      const crawl = await amble.start({ ...input(), delay: '20s' });
      // Its second ask, after robots.txt: the first one waits for nothing but the throttle's birth.
      await expect.poll(storyOfThrottle, { timeout: 20_000 }).toContain('signal release started not-found');
      const storyOfPage = async () =>
        storyOf(await historyOf((await pageHandle(crawl.workflowId, '/')).workflowId));
      await expect.poll(storyOfPage, { timeout: 20_000 }).toContain('completed fetchPage robots-read');
      await expect.poll(async () => (await storyOfPage()).at(-1), { timeout: 20_000 }).toBe('timer started');
      await crawl.cancel();
      await expect(crawl.result()).rejects.toThrow();
      await throttle().cancel();
      await expect(throttle().result()).rejects.toThrow();
      await keepLastRuns('cancelled', crawl.workflowId);
    }));

  it('cancelled-early', () =>
    onWeb(flatSite(2), async () => {
      const crawl = await blockCrawlOpening(amble.db, async ({ untilBlocked }) => {
        const begun = await amble.start(input());
        await untilBlocked(1);
        await begun.cancel();
        await untilBlocked(2);
        return begun;
      });
      await expect(crawl.result()).rejects.toThrow();
      await keep('cancelled-early', 'crawl', await historyOf(crawl.workflowId));
    }));

  it('steered', () =>
    onWeb(flatSite(3), async () => {
      const crawl = await amble.start({ ...input(), delay: '700ms' });
      await expect.poll(() => web.arrivalsAt('site', '/').length, { timeout: 20_000 }).toBe(1);
      await throttle().executeUpdate(pauseUpdate);
      // robots.txt, the front page, and the three that it links to.
      const asks = async () => (await storyOfThrottle()).filter((line) => line === 'update acquire').length;
      await expect.poll(asks, { timeout: 20_000 }).toBe(5);
      await crawl.executeUpdate(pauseCrawlUpdate);
      await throttle().executeUpdate(setDelayUpdate, { args: ['400ms'] });
      await throttle().executeUpdate(resumeUpdate);
      const aside = { where: { crawlId: crawl.workflowId, reason: 'the crawl is paused' } };
      await expect.poll(() => amble.db.page.count(aside), { timeout: 20_000 }).toBe(3);
      const page = await pageHandle(crawl.workflowId, '/3');
      await page.result();
      const stepsAside = await historyOf(page.workflowId);
      await throttle().executeUpdate(resetUpdate);
      await crawl.executeUpdate(resumeCrawlUpdate);
      await crawl.result();
      await keep('steered', 'page', stepsAside);
      await keep('steered', 'crawl', await historyOf(crawl.workflowId));
      await keep('steered', 'throttle', await historyOf(throttle().workflowId));
    }));

  it('down', () =>
    onWeb(flatSite(3), async () => {
      const crawl = await amble.start({ ...input(), delay: '100ms' });
      await expect.poll(() => web.arrivalsAt('site', '/').length, { timeout: 20_000 }).toBe(1);
      await web.goAway();
      await expect.poll(storyOfThrottle, { timeout: 30_000 }).toContain('answered acquire down');
      await web.comeBack();
      await crawl.result();
      for (const path of ['/1', '/2', '/3']) {
        const { workflowId } = await pageHandle(crawl.workflowId, path);
        const story = storyOf(await historyOf(workflowId));
        if (missingFrom(story, SITUATIONS.down.page) === null)
          return keepLastRuns('down', crawl.workflowId, path);
      }
      throw new Error('No page met the answer "down": the site was back too soon.');
    }));

  it('asleep', () =>
    onWeb(flaky(1), async () => {
      const crawl = await amble.start({ ...input(), retry: { initialInterval: '1h' } });
      const asleep = { where: { crawlId: crawl.workflowId, status: 'Waiting' as const } };
      await expect.poll(() => amble.db.page.count(asleep), { timeout: 20_000 }).toBe(1);
      await expect
        .poll(async () =>
          storyOf(await historyOf((await pageHandle(crawl.workflowId, '/')).workflowId)).at(-1),
        )
        .toBe('timer started');
      await keepLastRuns('asleep', crawl.workflowId);
      await crawl.cancel();
      await expect(crawl.result()).rejects.toThrow();
    }));
});

describe('where throttles end soon', () => {
  onAmble(() => startAmble({ tuning: { throttle: { idleTimeoutMs: 1_000 } } }));

  it('granted', () =>
    onWeb(chain, async () => {
      const { crawlId } = await amble.crawl(input());
      await throttle().result();
      await keepLastRuns('granted', crawlId, '/1');
    }));
});

/** So few that each of the workflows continues as new within a small crawl. */
const EVENTS_A_RUN = 25;

describe('on a server that suggests early to continue as new', () => {
  let server: TestWorkflowEnvironment;
  afterAll(() => server?.teardown());
  onAmble(async () => {
    const path = await findTemporalBinary(process.env.AMBLE_TEMPORAL_BINARY, () => {});
    server = await TestWorkflowEnvironment.createLocal({
      server: {
        executable: { type: 'existing-path', path },
        extraArgs: ['--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${EVENTS_A_RUN}`],
      },
    });
    return startAmble(
      { tuning: { throttle: { maxBackoffMs: 10 } } },
      { temporalAddress: server.address, namespace: 'default' },
    );
  });

  it('continued, and taken-over', () =>
    onWeb(flaky(2), async () => {
      const { crawlId } = await amble.crawl(input());
      const workflows = await workflowsOf(crawlId, '/');
      for (const kind of KINDS) {
        const { workflowId } = workflows[kind];
        const [first, second] = await firstRunsOf(workflowId);
        await keep('continued', kind, first);
        await keep('taken-over', kind, second);
      }
    }));

  it('cancelled-slowly', () =>
    onWeb(
      (path) => (path === '/robots.txt' ? undefined : { body: 'A page.', afterMs: 4_000 }),
      async () => {
        const crawl = await amble.start({ ...input() });
        await expect.poll(() => web.arrivalsAt('site', '/').length, { timeout: 20_000 }).toBe(1);
        await crawl.executeUpdate(cancelCrawlUpdate);
        await crawl.result();
        const [first] = await firstRunsOf(crawl.workflowId);
        await keep('cancelled-slowly', 'crawl', first);
        await keep('cancelled-on', 'crawl', await historyOf(crawl.workflowId));
        const page = await pageHandle(crawl.workflowId, '/');
        await keep('cancelled-slowly', 'page', await historyOf(page.workflowId));
      },
    ));

  async function firstRunsOf(workflowId: string): Promise<[History, History]> {
    const last = await historyOf(workflowId);
    const first = await historyOf(workflowId, beginningOf(last).firstExecutionRunId);
    const end = first.events.at(-1);
    const second = end === undefined ? undefined : attributesOf(end).newExecutionRunId;
    return [first, await historyOf(workflowId, second)];
  }
});
