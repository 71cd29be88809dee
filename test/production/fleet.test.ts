import { setTimeout as sleep } from 'node:timers/promises';
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest';
import { toContentLocation } from '../../src/config/content-store.ts';
import { type DemoWeb, startDemoWeb } from '../../src/demo/index.ts';
import { openContentStore } from '../../src/worker/open-content-store.ts';
import { shortGapsOnArrival } from '../support/gaps.ts';
import { flatSite, startWeb } from '../support/web.ts';
import { BUCKET, DELAY_MS, type Fleet, startFleet } from './fleet.ts';

const CRAWL = 'fleet';
/** Of each page while the server is killed. */
const ANSWER_AFTER_MS = 2_000;

let fleet: Fleet;
let web: DemoWeb;

beforeAll(async () => {
  web = await startDemoWeb();
  fleet = await startFleet();
});
afterAll(async () => {
  await fleet?.stop();
  await web?.stop();
});

test('a crawl survives new workers in place of old ones, a pause, and kill -9 of the Temporal server', async () => {
  const { db, cluster, run, startCrawl, startWorker, waitForEnd } = fleet;
  const old = await Promise.all([startWorker(), startWorker()]);
  await startCrawl(CRAWL, web.seeds, web.resolve);
  const fetched = () => db.page.count({ where: { crawlId: CRAWL, fetchedAt: { not: null } } });
  await expect.poll(fetched, { timeout: 120_000 }).toBeGreaterThan(5);

  const replacements = await Promise.all([startWorker(), startWorker()]);
  for (const worker of old) worker.kill('SIGTERM');
  expect((await Promise.all(old.map(({ ended }) => ended))).map(({ code }) => code)).toEqual([0, 0]);

  await run('pause', CRAWL);
  const inProgress = () => db.page.count({ where: { crawlId: CRAWL, status: 'Queued' } });
  await expect.poll(inProgress, { timeout: 60_000 }).toBe(0);
  const requested = web.arrivals.length;
  await cluster.kill();
  await cluster.start();
  // Long enough for three more requests to each host.
  await sleep(3 * DELAY_MS);
  expect(await run('status', CRAWL)).toContain('Paused');
  expect(web.arrivals.slice(requested)).toEqual([]);
  await run('resume', CRAWL);
  await waitForEnd(CRAWL);

  const pages = await db.page.findMany({ where: { crawlId: CRAWL }, select: { url: true, status: true } });
  const byUrl = (one: { url: string }, other: { url: string }) => (one.url < other.url ? -1 : 1);
  expect(pages.sort(byUrl)).toEqual([...web.expected].sort(byUrl));
  expect(await run('verify', CRAWL)).toMatch(/polite/i);
  expect(await run('status', CRAWL)).toContain(CRAWL);
  for (const worker of replacements) worker.kill('SIGTERM');
  for (const { ended } of [...old, ...replacements])
    for (const line of (await ended).stderr.trimEnd().split('\n'))
      expect(() => JSON.parse(line), line).not.toThrow();
});

test('Temporal’s CLI finds the workflows of a crawl by its search attributes', async () => {
  const counted = await fleet.temporal('workflow', 'count', '--query', `AmbleCrawl = "${CRAWL}"`);
  // The crawl and its pages.
  expect(Number(/\d+/.exec(counted)?.[0])).toBeGreaterThan(web.expected.length / 2);
});

test('all bodies are in the bucket, as their hashes say', async () => {
  const { db, env } = fleet;
  const store = openContentStore(toContentLocation(BUCKET, { home: '/', cwd: '/', env }));
  const stored = await db.page.findMany({ where: { crawlId: CRAWL, contentHash: { not: null } } });
  expect(stored.length).toBeGreaterThan(5);
  for (const { contentHash } of stored) await store.get(contentHash ?? '');
});

test('kill -9 of the Temporal server while requests are in flight loses no page, and gaps hold', async () => {
  const { db, cluster, run, startCrawl, startWorker, waitForEnd } = fleet;
  const hosts = ['a', 'b', 'c', 'd'];
  const page = flatSite(5);
  const slow = (path: string, visit: Parameters<typeof page>[1]) => {
    const answer = page(path, visit);
    return answer && { ...answer, afterMs: ANSWER_AFTER_MS };
  };
  const slowWeb = await startWeb(Object.fromEntries(hosts.map((host) => [host, slow])));
  onTestFinished(() => slowWeb.stop());
  const workers = await Promise.all([startWorker(), startWorker()]);
  await startCrawl(
    'in-flight',
    hosts.map((host) => slowWeb.url(host)),
    slowWeb.network.resolve,
  );
  const pages = () => slowWeb.arrivals.filter(({ path }) => path !== '/robots.txt');
  await expect
    .poll(() => pages().length, { timeout: 120_000, interval: 5 })
    .toBeGreaterThan(2 * hosts.length);
  const killedAt = performance.timeOrigin + performance.now();
  await cluster.kill();
  await cluster.start();
  const backAt = performance.timeOrigin + performance.now();
  await waitForEnd('in-flight');

  const rows = await db.page.findMany({ where: { crawlId: 'in-flight' } });
  expect(rows).toHaveLength(hosts.length * 6);
  expect(rows.filter(({ status, attempts }) => status !== 'Fetched' || attempts !== 1)).toEqual([]);
  const name = ({ host, path }: { host: string; path: string }) => `${host}${path}`;
  const open = pages().filter(({ atMs }) => killedAt - ANSWER_AFTER_MS < atMs && atMs < backAt);
  expect(pages().filter(({ atMs }) => killedAt - ANSWER_AFTER_MS < atMs && atMs < killedAt)).not.toEqual([]);
  const again = pages().filter(
    (one, index) => pages().findIndex((other) => name(one) === name(other)) < index,
  );
  // A result that nobody took within ten seconds is fetched again.
  expect(open.map(name)).toEqual(expect.arrayContaining(again.map(name)));
  expect(shortGapsOnArrival(slowWeb.arrivals, () => DELAY_MS)).toEqual([]);
  expect(await run('verify', 'in-flight')).toMatch(/polite/i);
  for (const worker of workers) worker.kill('SIGTERM');
  for (const { ended } of workers) expect(await ended).toMatchObject({ code: 0 });
});

test('every connection to Postgres is encrypted, of Amble and of Temporal', async () => {
  const rows = await fleet.db.$queryRaw<{ name: string; encrypted: boolean }[]>`
    SELECT DISTINCT datname AS name, ssl AS encrypted FROM pg_stat_activity JOIN pg_stat_ssl USING (pid)
    WHERE client_addr IS NOT NULL ORDER BY name`;
  expect(rows).toEqual(
    ['amble', 'temporal', 'temporal_visibility'].map((name) => ({ name, encrypted: true })),
  );
});
