/** Workers that are stopped, that lose a dependency, and that meet bugs: real processes, on engines of their own. */
import { fileURLToPath } from 'node:url';
import { afterAll, afterEach, beforeAll, describe, expect, test, vi } from 'vitest';
import { SOAK } from '../support/size.ts';
import { startWeb, type TestWeb } from '../support/web.ts';
import { createLab, type Lab, type LabWorker, MAXIMUM_ATTEMPTS } from './lab.ts';

vi.setConfig({ testTimeout: 120_000 });

const STOP_WITHIN_MS = 5_000;
/** Longer than fetches may finish once a worker stops, shorter than a fetch may take. */
const SLOW_MS = 4_500;
const BRIEF_MS = 1_000;

const BUGS = fileURLToPath(new URL('bugs.mjs', import.meta.url));

let lab: Lab;
let web: TestWeb;
let worker: LabWorker;
let crawls = 0;

beforeAll(async () => {
  lab = await createLab({
    workers: 1,
    settings: { shutdownTimeout: `${STOP_WITHIN_MS}ms`, fetch: { totalTimeout: '10s' } },
    env: { NODE_OPTIONS: `--import=${BUGS}` },
  });
  const [only] = lab.workers;
  if (only === undefined) throw new Error('A lab without a worker.');
  worker = only;
});

afterAll(async () => {
  await lab?.remove();
});

afterEach(async () => {
  await web?.stop();
});

/** A crawl of one page that takes this long, the first time; returns once it has been asked for. */
async function crawlSlowly(ms: number): Promise<string> {
  web = await startWeb({
    slow: (path, { count }) => (path === '/' ? { body: 'Slow.', afterMs: count === 1 ? ms : 0 } : undefined),
  });
  const crawlId = await start('/');
  await expect.poll(() => web.arrivalsAt('slow', '/').length, { timeout: 60_000, interval: 5 }).toBe(1);
  return crawlId;
}

async function start(path: string, more: Record<string, unknown> = {}): Promise<string> {
  crawls += 1;
  const workflowId = `stopping-${crawls}`;
  await lab.client.workflow.start('Crawl', {
    taskQueue: lab.taskQueue,
    workflowId,
    args: [{ seeds: [web.url('slow', path)], ...web.network, ...more }],
  });
  return workflowId;
}

async function attemptsOf(crawlId: string) {
  await lab.client.workflow.getHandle(crawlId).result();
  return lab.db.pageCrawl.findMany({
    where: { page: { crawlId } },
    select: { attempt: true, outcome: true },
  });
}

async function stopped(): Promise<{ code: number | null; tookMs: number; stderr: string }> {
  const began = performance.now();
  const { code, stderr } = await worker.process.ended;
  return { code, stderr, tookMs: performance.now() - began };
}

describe('a worker that receives SIGTERM', () => {
  test('lets a running fetch finish and exits with 0', async () => {
    const crawlId = await crawlSlowly(BRIEF_MS);
    worker.process.kill('SIGTERM');
    expect(await stopped()).toMatchObject({ code: 0 });
    await lab.restart(worker);
    expect(await attemptsOf(crawlId)).toEqual([{ attempt: 1, outcome: 'Success' }]);
    expect(web.arrivalsAt('slow', '/')).toHaveLength(1);
  });

  test('hands back a fetch that takes too long, at no cost to page or site', async () => {
    const crawlId = await crawlSlowly(SLOW_MS);
    worker.process.kill('SIGTERM');
    const { code, tookMs } = await stopped();
    expect(code).toBe(0);
    // Leaving takes a moment of its own: modules, sockets and the process itself.
    expect(tookMs).toBeLessThan(STOP_WITHIN_MS + 2_000);
    await lab.restart(worker);
    expect(await attemptsOf(crawlId)).toEqual([{ attempt: 1, outcome: 'Success' }]);
    expect(web.arrivalsAt('slow', '/')).toHaveLength(2);
    const state = await lab.client.workflow.getHandle(`throttle:${web.name('slow')}`).query('state');
    expect(state).toMatchObject({ backoffMs: 0, stats: { overloaded: 0, unreachable: 0 } });
  });

  test('exits at once on a second signal', async () => {
    const crawlId = await crawlSlowly(SLOW_MS);
    worker.process.kill('SIGTERM');
    await worker.process.waitForStderr(/Stopping: /);
    // One key press may arrive as two signals: those are a few milliseconds apart.
    await new Promise((resolve) => setTimeout(resolve, 400));
    worker.process.kill('SIGTERM');
    const { code, tookMs } = await stopped();
    expect(code).toBe(130);
    expect(tookMs).toBeLessThan(2_000);
    await lab.restart(worker);
    expect(await attemptsOf(crawlId)).toEqual([{ attempt: 1, outcome: 'Success' }]);
  });
});

/** The lines of its log since then that a person would worry about. */
function worries(log: string): string[] {
  return log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line): { level: number; msg: string } => JSON.parse(line))
    .filter(({ level }) => level > 30)
    .map(({ msg }) => msg);
}

describe('a worker that loses a dependency logs it once, waits and resumes:', () => {
  const PAGES = 20;

  test.each([
    // Longer than a step is tried as a local activity: both ways of waiting are gone through.
    { what: 'Postgres', wire: 'postgres', awayMs: 6_000 },
    // Longer than an idle worker takes to notice it, and than the SDK retries polls without a log line.
    ...(SOAK ? [{ what: 'Temporal', wire: 'temporal', awayMs: 20_000 } as const] : []),
  ] as const)('$what', async ({ what, wire, awayMs }) => {
    web = await startWeb({
      slow: (path) => ({ body: path === '/' ? links(PAGES) : 'A page.' }),
    });
    const before = worker.log().length;
    const crawlId = await start('/');
    await expect.poll(() => web.arrivals.length, { timeout: 60_000, interval: 5 }).toBeGreaterThan(5);
    lab.wires[wire].cut();
    await new Promise((resolve) => setTimeout(resolve, awayMs));
    lab.wires[wire].heal();
    expect(await lab.client.workflow.getHandle(crawlId).result()).toMatchObject({ found: PAGES + 1 });
    const logged = worker.log().slice(before);
    expect(worries(logged)).toEqual([`${what} unavailable; retrying (no data lost)`]);
    expect(logged.match(new RegExp(`${what} available again`, 'g'))).toHaveLength(1);
    const beyondPages = logged
      .trimEnd()
      .split('\n')
      .filter((line) => !line.includes('"page ended"'));
    expect(beyondPages, logged).toHaveLength(2);
    expect(worker.output()).toBe('');
  });
});

describe('a bug', () => {
  const title = (name: string) => ({ body: `<title>${name}</title>` });
  const pageAt = (crawlId: string, path: string) =>
    lab.db.page.findFirstOrThrow({
      where: { crawlId, url: web.url('slow', path) },
      select: { status: true, reason: true, attempted: { select: { outcome: true, errorKind: true } } },
    });

  test('in parse, persist or a sitemap is retried, then fails only its own page with the error', async () => {
    web = await startWeb({
      slow: (path) =>
        ({
          '/robots.txt': {
            body: `Sitemap: ${web.url('slow', '/unreadable.xml')}`,
            headers: { 'content-type': 'text/plain' },
          },
          '/unreadable.xml': {
            body: '<urlset><url><loc>/listed</loc></url></urlset>',
            headers: { 'content-type': 'application/xml' },
          },
          '/': {
            body: ['/unparsable', '/unrecordable', '/fine'].map((to) => `<a href="${to}">x</a>`).join(''),
          },
          '/unparsable': title('Unparsable'),
          '/unrecordable': title('Unrecordable'),
          '/fine': title('Fine'),
        })[path],
    });
    const before = worker.log().length;
    const crawlId = await start('/', { sitemaps: true });
    expect(await lab.client.workflow.getHandle(crawlId).result()).toMatchObject({
      found: 4,
      pages: { Fetched: 2, Failed: 2 },
    });
    expect(await pageAt(crawlId, '/unparsable')).toEqual({
      status: 'Failed',
      reason: 'The page could not be parsed: a bug in the parser',
      attempted: [{ outcome: 'Failed', errorKind: 'parse' }],
    });
    expect(await pageAt(crawlId, '/unrecordable')).toEqual({
      status: 'Failed',
      reason: 'The page could not be recorded: a bug in the record',
      attempted: [{ outcome: 'Failed', errorKind: 'record' }],
    });
    expect(await pageAt(crawlId, '/unreadable.xml')).toEqual({
      status: 'Failed',
      reason: 'The sitemap could not be read: a bug in the reader',
      attempted: [{ outcome: 'Failed', errorKind: 'parse' }],
    });
    for (const path of ['/unparsable', '/unrecordable', '/unreadable.xml'])
      expect(web.arrivalsAt('slow', path)).toHaveLength(1);
    // Once for each time the policy tries it.
    const logged = worker.log().slice(before);
    for (const worry of ['could not record a page', 'could not read a sitemap'])
      expect(worries(logged).filter((msg) => msg === worry)).toHaveLength(MAXIMUM_ATTEMPTS);
    expect(logged.match(/met the bug in the parser/g)).toHaveLength(MAXIMUM_ATTEMPTS);
  });

  test('in a fetch is retried three times per attempt and sends nothing', async () => {
    web = await startWeb({
      slow: (path) => ({ '/': { body: '<a href="/unfetchable">x</a>' }, '/unfetchable': title('') })[path],
    });
    const before = worker.log().length;
    const crawlId = await start('/', { retry: { maximumAttempts: 1 } });
    expect(await lab.client.workflow.getHandle(crawlId).result()).toMatchObject({
      pages: { Fetched: 1, Failed: 1 },
    });
    expect(await pageAt(crawlId, '/unfetchable')).toEqual({
      status: 'Failed',
      reason: 'The fetch failed on our side too often; the last time, with nothing sent: a bug in the fetch',
      attempted: [{ outcome: 'Failed', errorKind: 'internal' }],
    });
    expect(web.arrivalsAt('slow', '/unfetchable')).toEqual([]);
    const logged = worries(worker.log().slice(before));
    expect(logged.filter((msg) => msg === 'a fetch failed on our side')).toHaveLength(3);
  });

  test('that nothing catches is logged and does not end the worker', async () => {
    const before = worker.log().length;
    worker.process.kill('SIGUSR2');
    await expect
      .poll(() => worries(worker.log().slice(before)), { timeout: 10_000 })
      .toEqual(
        expect.arrayContaining([
          'uncaught exception; the worker continues',
          'unhandled rejection; the worker continues',
        ]),
      );
    const crawlId = await crawlSlowly(0);
    expect(await attemptsOf(crawlId)).toEqual([{ attempt: 1, outcome: 'Success' }]);
  });
});

function links(count: number): string {
  return Array.from({ length: count }, (_, i) => `<a href="/${i}">${i}</a>`).join('');
}
