import { TestWorkflowEnvironment } from '@temporalio/testing';
import { DefaultLogger, Runtime } from '@temporalio/worker';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { throttleStart } from '../../activities/slot/throttle-client.ts';
import { findTemporalBinary } from '../../src/embedded/temporal-binary.ts';
import { throttleId } from '../../workflows/ids.ts';
import {
  cancelCrawlUpdate,
  pauseCrawlUpdate,
  resumeCrawlUpdate,
  setDelayUpdate,
} from '../../workflows/messages.ts';
import type { DomainThrottle } from '../../workflows/throttle/domain-throttle.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb } from '../support/web.ts';

/** So few that throttles, crawls and queued pages all have to continue as new, some of them many times. */
const EVENTS_A_RUN = 40;

describe('when every workflow continues as new after a few events', () => {
  let server: TestWorkflowEnvironment;
  let amble: Amble;
  /** So rarely that a crawl continues as new only because of its cancellation. */
  let rarelySwept: Amble;

  beforeAll(async () => {
    Runtime.install({
      logger: new DefaultLogger('ERROR'),
      telemetryOptions: { logging: { filter: 'ERROR', forward: {} } },
    });
    const path = await findTemporalBinary(process.env.AMBLE_TEMPORAL_BINARY, () => {});
    server = await TestWorkflowEnvironment.createLocal({
      server: {
        executable: { type: 'existing-path', path },
        extraArgs: ['--dynamic-config-value', `limit.historyCount.suggestContinueAsNew=${EVENTS_A_RUN}`],
      },
    });
    const engines = { temporalAddress: server.address, namespace: 'default' };
    amble = await startAmble({}, engines);
    rarelySwept = await startAmble({ tuning: { crawl: { sweepIntervalMs: 60_000 } } }, engines);
  });
  afterAll(async () => {
    await rarelySwept?.stop();
    await amble?.stop();
    await server?.teardown();
  });

  it('a crawl loses no page, fetches none twice and keeps every gap', async () => {
    const flaky = flatSite(25, (path, { count }) =>
      path === '/7' && count < 3 ? { status: 503 } : undefined,
    );
    const web = await startWeb({ one: flaky, two: flatSite(25) });
    try {
      const result = await amble.crawl({
        seeds: [web.url('one'), web.url('two')],
        ...web.network,
        delay: '30ms',
      });
      expect(result.pages).toEqual({ Fetched: 52 });
      // 26 pages and robots.txt each, and two failures of one page.
      expect(web.arrivals).toHaveLength(54 + 2);
      for (const host of ['one', 'two']) {
        const requests = await amble.db.request.findMany({
          where: { domain: web.name(host) },
          orderBy: { startedAt: 'asc' },
        });
        requests.slice(1).forEach((request, i) => {
          const before = requests[i]?.startedAt.getTime() ?? 0;
          expect(request.startedAt.getTime() - before).toBeGreaterThanOrEqual(request.minGapMs);
        });
        const histories = await historiesOf(throttleId(web.name(host)));
        expect(histories.length).toBeGreaterThan(3);
        // Whatever is in progress at the suggestion ends first, which takes only a few events.
        expect(Math.max(...histories)).toBeLessThan(2 * EVENTS_A_RUN);
      }
    } finally {
      await web.stop();
    }
  });

  it('an operator’s change is persisted at once, also by the next run', async () => {
    const domain = 'steered.test';
    const start = throttleStart(amble.config, domain, { searchAttributes: false, dashboardUrl: null });
    const throttle = await amble.client.workflow.start<typeof DomainThrottle>('DomainThrottle', start);
    for (let seconds = 1; seconds <= 15; seconds += 1) {
      await throttle.executeUpdate(setDelayUpdate, { args: [`${seconds}s`, null] });
      const written = async () =>
        (await amble.db.domain.findUnique({ where: { name: domain } }))?.delayMinMs ?? null;
      await expect.poll(written, { timeout: 20_000 }).toBe(seconds * 1_000);
    }
    expect(await runsOf(throttleId(domain))).toBeGreaterThan(1);
    expect(await amble.db.order.count({ where: { domain, kind: 'delay' } })).toBe(15);
    await throttle.terminate();
  });

  it('orders that reach a crawl at the end of a run are answered, and recorded by the next one', async () => {
    /** Enough for some of them to come in the very task that ends a run. */
    const ORDERS = 150;
    const web = await startWeb({ one: flatSite(25) });
    try {
      const crawl = await amble.start({ seeds: [web.url('one')], ...web.network, delay: '5s' });
      for (let order = 1; order <= ORDERS; order += 1)
        await crawl.executeUpdate(order % 2 === 1 ? pauseCrawlUpdate : resumeCrawlUpdate, { args: [null] });
      const recorded = () => amble.db.order.count({ where: { crawlId: crawl.workflowId } });
      await expect.poll(recorded, { timeout: 20_000 }).toBe(ORDERS);
      expect(await runsOf(crawl.workflowId)).toBeGreaterThan(1);
      await crawl.executeUpdate(cancelCrawlUpdate, { args: [null] });
      await crawl.result();
    } finally {
      await web.stop();
    }
  });

  it.each(['by its update', 'by Temporal'])(
    'a crawl cancelled %s whose pages end slowly continues to cancel them in a new run',
    async (way) => {
      const web = await startWeb({
        slow: (path) => (path === '/robots.txt' ? undefined : { body: 'A page.', afterMs: 8_000 }),
      });
      try {
        const crawl = await rarelySwept.start({ seeds: [web.url('slow')], ...web.network });
        await expect.poll(() => web.arrivalsAt('slow', '/').length, { timeout: 20_000 }).toBe(1);
        if (way === 'by Temporal') await crawl.cancel();
        else await crawl.executeUpdate(cancelCrawlUpdate, { args: [null] });
        expect(await crawl.result()).toMatchObject({ pages: { Cancelled: 1 } });
        expect(await runsOf(crawl.workflowId)).toBeGreaterThan(1);
        const { status } = await rarelySwept.db.crawl.findUniqueOrThrow({ where: { id: crawl.workflowId } });
        expect(status).toBe('Cancelled');
      } finally {
        await web.stop();
      }
    },
  );

  async function runsOf(workflowId: string): Promise<number> {
    return (await historiesOf(workflowId)).length;
  }

  /** The number of events of each run, followed from run to run: the list of workflows lags behind under load. */
  async function historiesOf(workflowId: string): Promise<number[]> {
    const lengths: number[] = [];
    const { raw } = await amble.client.workflow.getHandle(workflowId).describe();
    let runId = raw.workflowExecutionInfo?.firstRunId;
    while (runId) {
      const { events } = await amble.client.workflow.getHandle(workflowId, runId).fetchHistory();
      lengths.push(events?.length ?? 0);
      runId = events?.at(-1)?.workflowExecutionContinuedAsNewEventAttributes?.newExecutionRunId;
    }
    return lengths;
  }
});
