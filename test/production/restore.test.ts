/** An installation whose databases were restored from backups of different ages. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest';
import { createLab, GAP_MS, type Lab, type LabWorker } from '../faults/lab.ts';
import { shortGapsOnArrival } from '../support/gaps.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const PAGES = 20;

let lab: Lab;
let worker: LabWorker;
let web: TestWeb;

beforeAll(async () => {
  lab = await createLab({ workers: 1 });
  const [only] = lab.workers;
  if (only === undefined) throw new Error('A lab without a worker.');
  worker = only;
});

afterAll(async () => {
  await lab?.remove();
});

beforeEach(async () => {
  const busyOnce = (path: string, { count }: { count: number }) =>
    path === '/7' && count === 1 ? { status: 503 } : undefined;
  web = await startWeb({ one: flatSite(PAGES, busyOnce), two: flatSite(PAGES), later: flatSite(PAGES) });
});

afterEach(async () => {
  await web.stop();
});

async function start(crawlId: string, ...hosts: string[]): Promise<void> {
  await lab.client.workflow.start('Crawl', {
    taskQueue: lab.taskQueue,
    workflowId: crawlId,
    args: [{ seeds: hosts.map((host) => web.url(host)), ...web.network }],
  });
}

async function arrivalsAt(host: string, count: number): Promise<void> {
  await expect
    .poll(() => web.arrivalsAt(host).length, { timeout: 60_000, interval: 5 })
    .toBeGreaterThanOrEqual(count);
}

async function backUp(engine: 'postgres' | 'temporal'): Promise<void> {
  const { kill, backUp, start } = lab.engines[engine];
  await kill();
  await backUp();
  await start();
}

async function restore(engine: 'postgres' | 'temporal'): Promise<void> {
  const { kill, restore, start } = lab.engines[engine];
  await lab.kill(worker);
  await kill();
  await restore();
  await start();
  // As if the backup were some minutes old: the sweep then looks at once for pages without a workflow.
  await lab.db.$executeRaw`UPDATE pages SET check_at = now() WHERE check_at IS NOT NULL`;
  await lab.restart(worker);
}

/** Waits for its end. */
async function expectWhole(crawlId: string, hosts: number): Promise<void> {
  const all = hosts * (PAGES + 1);
  const result = await lab.client.workflow.getHandle(crawlId).result();
  expect(result, worker.log()).toMatchObject({ found: all, pages: { Fetched: all } });
  const pages = await lab.db.page.findMany({ where: { crawlId, title: { not: null } } });
  expect(pages).toHaveLength(hosts * PAGES);
  for (const { url, title } of pages) expect(`/${title?.slice('Page '.length)}`).toBe(new URL(url).pathname);
}

test('with a Postgres older than Temporal, no page is lost and gaps hold', async () => {
  await start('before', 'one', 'two');
  await arrivalsAt('one', 5);
  await backUp('postgres');
  // The backup knows nothing of this crawl, nor of its domain.
  await start('since', 'later');
  await arrivalsAt('later', 5);
  await restore('postgres');
  await expectWhole('before', 2);
  await expectWhole('since', 1);
  expect(shortGapsOnArrival(web.arrivals, () => GAP_MS)).toEqual([]);
});

test('with a Temporal older than Postgres, no page is lost and gaps hold', async () => {
  await start('again', 'one', 'two');
  await arrivalsAt('one', 5);
  await backUp('temporal');
  await arrivalsAt('one', 12);
  await restore('temporal');
  await expectWhole('again', 2);
  expect(shortGapsOnArrival(web.arrivals, () => GAP_MS)).toEqual([]);
});
