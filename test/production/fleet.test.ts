import { afterAll, beforeAll, expect, test } from 'vitest';
import { toContentLocation } from '../../src/config/content-store.ts';
import { type DemoWeb, startDemoWeb } from '../../src/demo/index.ts';
import { openContentStore } from '../../src/worker/open-content-store.ts';
import { BUCKET, type Fleet, startFleet } from './fleet.ts';

const CRAWL = 'fleet';

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
  await cluster.kill();
  await cluster.start();
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
