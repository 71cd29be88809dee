/**
 * A worker that is killed, or stopped, while its pages fetch within their workflow tasks: the server repeats such a task with the same
 * lease.
 */
import { expect, type TestContext, test, vi } from 'vitest';
import { pageWorkflowId, throttleId } from '../../workflows/ids.ts';
import { stateQuery } from '../../workflows/messages.ts';
import { startWeb, type TestWeb } from '../support/web.ts';
import { JITTER_MS } from './invariants.ts';
import { createLab, type Lab, type LabWorker } from './lab.ts';

vi.setConfig({ testTimeout: 120_000 });

const DELAY_MS = 1_000;
/** The third page: by then the site is known to be quick. */
const PATH = '/2';
const PAGES = 5;

interface Scene {
  lab: Lab;
  /** The only one. */
  worker: LabWorker;
  web: TestWeb;
}

/**
 * A lab of the test's own, because the tests wait for most of their time and so run together. Each page of its web links to the next
 * one. The first response of one of them takes this long.
 */
async function setUp({ onTestFinished }: TestContext, slowMs: number): Promise<Scene> {
  const lab = await createLab({ workers: 1, settings: { fetch: { totalTimeout: '10s' } }, env: {} });
  onTestFinished(() => lab.remove());
  const [worker] = lab.workers;
  if (worker === undefined) throw new Error('A lab without a worker.');
  const web = await startWeb({
    chain: (path, { count }) => {
      const n = path === '/' ? 0 : Number(path.slice(1));
      if (Number.isNaN(n)) return undefined;
      const body = n + 1 < PAGES ? `<a href="/${n + 1}">next</a>` : 'The end.';
      return { body, afterMs: path === PATH && count === 1 ? slowMs : 0 };
    },
  });
  onTestFinished(() => web.stop());
  return { lab, worker, web };
}

function crawlChain({ lab, web }: Scene, crawlId: string, delayMs = DELAY_MS) {
  return lab.client.workflow.start('Crawl', {
    taskQueue: lab.taskQueue,
    workflowId: crawlId,
    args: [{ seeds: [web.url('chain')], ...web.network, delay: `${delayMs}ms` }],
  });
}

async function killAndRestart({ lab, worker }: Scene): Promise<void> {
  worker.process.kill('SIGKILL');
  await worker.process.ended;
  await lab.restart(worker);
}

async function expectWhole({ lab, web }: Scene, crawlId: string): Promise<void> {
  const attempts = await lab.db.pageCrawl.findMany({ where: { page: { crawlId } } });
  expect(attempts.map(({ attempt, outcome }) => [attempt, outcome])).toEqual(
    Array.from({ length: PAGES }, () => [1, 'Success']),
  );
  const starts = web.arrivals.map(({ atMs }) => atMs);
  starts.slice(1).forEach((at, i) => {
    expect(at - (starts[i] ?? 0)).toBeGreaterThanOrEqual(DELAY_MS - JITTER_MS);
  });
  const requests = await lab.db.request.findMany({ where: { crawlId } });
  expect(new Set(requests.map(({ leaseId }) => leaseId)).size).toBe(requests.length);
}

/** The regular activities of a page's workflow. */
async function regularActivitiesOf({ lab, web }: Scene, crawlId: string, path: string): Promise<string[]> {
  const { url, urlHash } = await lab.db.page.findFirstOrThrow({
    where: { crawlId, url: web.url('chain', path) },
  });
  const workflowId = pageWorkflowId(crawlId, { url, urlHash: Buffer.from(urlHash).toString('hex') });
  const { events } = await lab.client.workflow.getHandle(workflowId).fetchHistory();
  return (events ?? []).flatMap(
    (event) => event.activityTaskScheduledEventAttributes?.activityType?.name ?? [],
  );
}

test.concurrent('a page whose worker dies during its fetch is fetched again under another lease, after the gap', async (context) => {
  const scene = await setUp(context, 5_000);
  const { web } = scene;
  const crawl = await crawlChain(scene, 'killed-before');
  await context.expect
    .poll(() => web.arrivalsAt('chain', PATH).length, { timeout: 60_000, interval: 5 })
    .toBe(1);
  await killAndRestart(scene);
  expect(await crawl.result()).toMatchObject({ pages: { Fetched: PAGES } });
  expect(web.arrivalsAt('chain', PATH)).toHaveLength(2);
  await expectWhole(scene, 'killed-before');
  expect(await regularActivitiesOf(scene, 'killed-before', PATH)).not.toContain('fetchPage');
});

test.concurrent('a page whose worker dies after its record, before the task is complete, is not fetched again', async (context) => {
  const scene = await setUp(context, 0);
  const { lab, web } = scene;
  const crawl = await crawlChain(scene, 'killed-after');
  const recorded = () =>
    lab.db.pageCrawl.count({ where: { page: { crawlId: 'killed-after', url: web.url('chain', PATH) } } });
  await context.expect.poll(recorded, { timeout: 60_000, interval: 1 }).toBe(1);
  await killAndRestart(scene);
  expect(await crawl.result()).toMatchObject({ pages: { Fetched: PAGES } });
  expect(web.arrivalsAt('chain', PATH)).toHaveLength(1);
  await expectWhole(scene, 'killed-after');
});

test.concurrent('a worker that stops does not wait for the slots of its pages, and another one fetches them in time', async (context) => {
  const scene = await setUp(context, 0);
  const { lab, worker, web } = scene;
  const crawl = await crawlChain(scene, 'stopped', 4_000);
  await context.expect
    .poll(() => web.arrivalsAt('chain', '/1').length, { timeout: 60_000, interval: 5 })
    .toBe(1);
  const throttle = lab.client.workflow.getHandle(throttleId(web.name('chain')));
  await context.expect
    .poll(async () => (await throttle.query(stateQuery)).leases.length, { timeout: 3_000, interval: 50 })
    .toBe(1);
  const stoppedAt = performance.now();
  worker.process.kill('SIGTERM');
  await worker.process.ended;
  expect(performance.now() - stoppedAt).toBeLessThan(3_000);
  await lab.restart(worker);
  expect(await crawl.result()).toMatchObject({ pages: { Fetched: PAGES } });
  expect(web.arrivalsAt('chain', PATH)).toHaveLength(1);
  await expectWhole(scene, 'stopped');
});
