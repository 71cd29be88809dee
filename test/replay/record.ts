/**
 * `npm run histories`: brings about each situation on real engines and writes its histories to test/histories, if they show
 * what evidence.ts says. `npm run histories -- -t 'reserved$'` records one situation. The test run only replays them.
 */
import { historyToJSON } from '@temporalio/common/lib/proto-utils.js';
import { TestWorkflowEnvironment } from '@temporalio/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findTemporalBinary } from '../../src/embedded/temporal-binary.ts';
import { pageWorkflowId, throttleId } from '../../workflows/ids.ts';
import {
  pauseCrawlUpdate,
  pauseUpdate,
  resetUpdate,
  resumeCrawlUpdate,
  resumeUpdate,
  setDelayUpdate,
  stateQuery,
} from '../../workflows/messages.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, links, type Site, startWeb, type TestWeb } from '../support/web.ts';
import { EVIDENCE, type HistoryName, missingFrom } from './evidence.ts';
import { save } from './histories.ts';
import { attributesOf, firstEventOf, type History, readHistory, summarize } from './history.ts';

const SOON = { timeout: 30_000 };

let amble: Amble;
let web: TestWeb;

function useAmble(start: () => Promise<Amble>): void {
  beforeAll(async () => {
    amble = await start();
  });
  afterAll(() => amble?.stop());
}

async function onWeb(site: Site, act: () => Promise<void>, others: Record<string, Site> = {}): Promise<void> {
  web = await startWeb({ site, ...others });
  try {
    await act();
  } finally {
    await web.stop();
  }
}

const seeds = (...paths: string[]) => ({ seeds: paths.map((path) => web.url('site', path)), ...web.network });

const throttle = () => amble.client.workflow.getHandle(throttleId(web.name('site')));

async function pageIdOf(crawlId: string, path: string): Promise<string> {
  const { url, urlHash } = await amble.db.page.findFirstOrThrow({
    where: { crawlId, url: web.url('site', path) },
  });
  return pageWorkflowId(crawlId, { url, urlHash: Buffer.from(urlHash).toString('hex') });
}

async function historyOf(workflowId: string, runId?: string): Promise<History> {
  return readHistory(historyToJSON(await amble.client.workflow.getHandle(workflowId, runId).fetchHistory()));
}

/** Empty before the page's workflow has started. */
async function pageSummary(crawlId: string, path: string): Promise<string[]> {
  try {
    return summarize(await historyOf(await pageIdOf(crawlId, path)));
  } catch {
    return [];
  }
}

const throttleSummary = async () => summarize(await historyOf(throttle().workflowId));

async function keep(name: HistoryName, history: History): Promise<void> {
  const summary = summarize(history);
  expect(missingFrom(summary, EVIDENCE[name]), `missing in ${name}:\n${summary.join('\n')}`).toBeNull();
  await save(name, history);
}

const keepPage = async (name: HistoryName, crawlId: string, path: string) =>
  keep(name, await historyOf(await pageIdOf(crawlId, path)));

/** Crawls from '/' and keeps the history of one page. */
async function crawlAndKeep(name: HistoryName, path: string, more: Record<string, unknown> = {}) {
  const { crawlId } = await amble.crawl({ ...seeds('/'), ...more });
  await amble.client.workflow.getHandle(await pageIdOf(crawlId, path)).result();
  await keepPage(name, crawlId, path);
}

const failingFirst =
  (failures: number): Site =>
  (path, { count }) => {
    if (path !== '/') return undefined;
    return count <= failures ? { status: 503 } : { body: 'A page.' };
  };

describe('with usual settings', () => {
  useAmble(() =>
    startAmble({
      tuning: {
        throttle: { maxBackoffMs: 10, outageRetryMs: 1_500, maxOutageRetryMs: 1_500 },
        robots: { retryMs: 100, maxRetryMs: 100 },
        crawl: { longWaitMs: 50 },
      },
    }),
  );

  it('reserved', () => onWeb(flatSite(3), () => crawlAndKeep('reserved.page', '/3', { delay: '4s' })));

  it('staying', () => onWeb(flatSite(3), () => crawlAndKeep('staying.page', '/2', { delay: '1500ms' })));

  it('retried', () => onWeb(failingFirst(1), () => crawlAndKeep('retried.page', '/')));

  it('redirected', () =>
    onWeb(
      (path) => (path === '/' ? { status: 301, headers: { location: '/new' } } : { body: 'Here.' }),
      () => crawlAndKeep('redirected.page', '/'),
    ));

  it('deferred', () =>
    onWeb(
      (path, { count }) =>
        path === '/robots.txt' ? { status: count === 1 ? 503 : 404 } : { body: 'A page.' },
      () => crawlAndKeep('deferred.page', '/'),
    ));

  it('sitemap', () =>
    onWeb(
      (path) => {
        if (path === '/') return { body: 'A page.' };
        if (path !== '/sitemap.xml') return undefined;
        return { headers: { 'content-type': 'text/plain' }, body: `${web.url('site', '/listed')}\n` };
      },
      () => crawlAndKeep('sitemap.page', '/sitemap.xml', { sitemaps: true }),
    ));

  it('robots-moved', () =>
    onWeb(
      (path) => {
        const location = web.url('there', '/robots.txt');
        if (path === '/robots.txt') return { status: 301, headers: { location } };
        return path === '/' ? { body: 'A page.' } : undefined;
      },
      () => crawlAndKeep('robots-moved.page', '/'),
      { there: () => ({ headers: { 'content-type': 'text/plain' }, body: 'User-agent: *\nDisallow: /x' }) },
    ));

  it('cancelled', () =>
    onWeb(flatSite(2), async () => {
      const crawl = await amble.start({ ...seeds('/'), delay: '20s' });
      // Asleep until its slot, after robots.txt.
      await expect
        .poll(() => pageSummary(crawl.workflowId, '/'), SOON)
        .toContain('completed fetchPage robots-read');
      await expect
        .poll(async () => (await pageSummary(crawl.workflowId, '/')).at(-1), SOON)
        .toBe('timer started');
      await crawl.cancel();
      await expect(crawl.result()).rejects.toThrow();
      await keepPage('cancelled.page', crawl.workflowId, '/');
      await keep('cancelled.crawl', await historyOf(crawl.workflowId));
    }));

  it('operated', () =>
    onWeb(flatSite(3), async () => {
      const crawl = await amble.start({ ...seeds('/'), delay: '700ms' });
      await expect.poll(() => web.arrivalsAt('site', '/').length, SOON).toBe(1);
      await throttle().executeUpdate(pauseUpdate, { args: [null] });
      const waiting = async () => (await throttle().query(stateQuery)).waiting;
      await expect.poll(waiting, SOON).toBe(3);
      await crawl.executeUpdate(pauseCrawlUpdate, { args: [null] });
      await throttle().executeUpdate(setDelayUpdate, { args: ['400ms', null] });
      await throttle().executeUpdate(resumeUpdate, { args: [null] });
      const stopped = { where: { crawlId: crawl.workflowId, reason: 'the crawl is paused' } };
      await expect.poll(() => amble.db.page.count(stopped), SOON).toBe(3);
      await throttle().executeUpdate(resetUpdate, { args: [null] });
      await crawl.executeUpdate(resumeCrawlUpdate, { args: [null] });
      await crawl.result();
      await keep('operated.crawl', await historyOf(crawl.workflowId));
      await keep('operated.throttle', await historyOf(throttle().workflowId));
    }));

  it('down', () =>
    onWeb(flatSite(3), async () => {
      const crawl = await amble.start({ ...seeds('/'), delay: '100ms' });
      await expect.poll(() => web.arrivalsAt('site', '/').length, SOON).toBe(1);
      await web.refuseConnections();
      await expect.poll(throttleSummary, SOON).toContain('answered acquire down');
      await web.acceptConnections();
      await crawl.result();
      for (const path of ['/1', '/2', '/3']) {
        const summary = await pageSummary(crawl.workflowId, path);
        if (missingFrom(summary, EVIDENCE['down.page']) === null)
          return keepPage('down.page', crawl.workflowId, path);
      }
      throw new Error('No page got the answer "down": the site came back too soon.');
    }));
});

describe('with throttles that soon end', () => {
  useAmble(() => startAmble({ tuning: { throttle: { idleTimeoutMs: 1_000 } } }));

  it('granted', () =>
    onWeb(
      (path) => {
        const next = { '/': '/1', '/1': '/2' }[path];
        if (next !== undefined) return { body: links(next) };
        return path === '/2' ? { body: 'The end.' } : undefined;
      },
      async () => {
        const { crawlId } = await amble.crawl(seeds('/'));
        await throttle().result();
        await keepPage('granted.page', crawlId, '/1');
        await keep('granted.throttle', await historyOf(throttle().workflowId));
      },
    ));
});

describe('with little patience', () => {
  useAmble(() =>
    startAmble({
      tuning: {
        heartbeatMs: 1_000,
        parseTimeoutMs: 1,
        throttle: { maxReserved: 0 },
      },
    }),
  );

  it('later', () =>
    onWeb(flatSite(2), async () => {
      const { crawlId } = await amble.crawl({ ...seeds('/1', '/2'), delay: '1s' });
      const isTurnedAway = async (path: string) =>
        (await pageSummary(crawlId, path)).some((line) => line.startsWith('local acquireSlot later'));
      await keepPage('later.page', crawlId, (await isTurnedAway('/1')) ? '/1' : '/2');
    }));

  it('faulty', () =>
    onWeb(
      // So large that it is parsed in a thread, which has no time for it.
      (path) => (path === '/' ? { body: `<title>Large</title>${'<p>text</p>'.repeat(60_000)}` } : undefined),
      () => crawlAndKeep('faulty.page', '/'),
    ));

  it('lost', () =>
    onWeb(
      (path, { count }) =>
        path === '/' ? { body: 'A page.', ...(count === 1 && { afterMs: 10_000 }) } : undefined,
      async () => {
        const crawl = await amble.start(seeds('/'));
        await expect.poll(() => web.arrivalsAt('site', '/').length, SOON).toBe(1);
        // To the server a worker that is stalled looks as if it were killed.
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_500);
        await crawl.result();
        await keepPage('lost.page', crawl.workflowId, '/');
      },
    ));
});

/** So few that a workflow continues as new within a small crawl. */
const EVENTS_PER_RUN = 25;

describe('on a server that soon suggests to continue as new', () => {
  let server: TestWorkflowEnvironment;
  afterAll(() => server?.teardown());
  useAmble(async () => {
    const path = await findTemporalBinary(process.env.AMBLE_TEMPORAL_BINARY, () => {});
    server = await TestWorkflowEnvironment.createLocal({
      server: {
        executable: { type: 'existing-path', path },
        extraArgs: ['--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${EVENTS_PER_RUN}`],
      },
    });
    const engines = { temporalAddress: server.address, namespace: 'default' };
    return startAmble({ tuning: { throttle: { maxBackoffMs: 10 } } }, engines);
  });

  it('continued', () =>
    onWeb(failingFirst(2), async () => {
      const { crawlId } = await amble.crawl(seeds('/'));
      const pageId = await pageIdOf(crawlId, '/');
      const [first, second] = await firstRunsOf(pageId);
      await keep('continued.page', first);
      await keep('continuing.page', second);
      const [firstOfThrottle] = await firstRunsOf(throttle().workflowId);
      await keep('continued.throttle', firstOfThrottle);
    }));

  async function firstRunsOf(workflowId: string): Promise<[History, History]> {
    const last = await historyOf(workflowId);
    const first = await historyOf(workflowId, firstEventOf(last).firstExecutionRunId);
    const end = first.events.at(-1);
    return [first, await historyOf(workflowId, end && attributesOf(end).newExecutionRunId)];
  }
});
