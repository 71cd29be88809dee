/** The upgrade of docs/deployment.md, with the same commands. */
import { afterAll, beforeAll, expect, test, vi } from 'vitest';
import { z } from 'zod';
import type { RunningProgram } from '../e2e/support.ts';
import { startWeb, type TestWeb } from '../support/web.ts';
import { type Fleet, startFleet } from './fleet.ts';

const CRAWL = 'upgraded';
const HOSTS = ['a', 'b', 'c', 'd'];

let fleet: Fleet;
let web: TestWeb;
/** Until then every page links to further ones, so that the crawl goes on however slow the machine is. */
let complete = false;

beforeAll(async () => {
  const site = (path: string) => {
    if (path === '/robots.txt') return undefined;
    const next = complete ? [] : [1, 2, 3].map((step) => Number(path.slice(1)) + step);
    return { body: next.map((page) => `<a href="/${page}">${page}</a>`).join('') };
  };
  web = await startWeb(Object.fromEntries(HOSTS.map((host) => [host, site])));
  fleet = await startFleet();
});
afterAll(async () => {
  await fleet?.stop();
  await web?.stop();
});

async function untilMoreIsFetched(): Promise<void> {
  const fetched = () => fleet.db.page.count({ where: { crawlId: CRAWL, fetchedAt: { not: null } } });
  const before = await fetched();
  await expect.poll(fetched, { timeout: 60_000 }).toBeGreaterThan(before + 2 * HOSTS.length);
}

/** Refused until the server knows the task queues of the new workers. */
async function makeCurrent(buildId: string): Promise<void> {
  const command = 'worker deployment set-current-version --deployment-name amble --yes --build-id';
  await vi.waitFor(() => fleet.temporal(...command.split(' '), buildId), { timeout: 60_000, interval: 500 });
}

/** Pages that have ended since then and meet the condition. */
async function endedPages(since: Date, condition: string): Promise<number> {
  const query = `WorkflowType = 'CrawlPage' AND CloseTime > '${since.toISOString()}' AND ${condition}`;
  const answer = await fleet.temporal('workflow', 'count', '--query', query, '--output', 'json');
  return Number(z.object({ count: z.string().default('0') }).parse(JSON.parse(answer)).count);
}

test('workers of a new build take over a running crawl when they are made the current version', async () => {
  const { startCrawl, startWorker, run, waitForEnd } = fleet;
  let workers: RunningProgram[] = [await startWorker()];
  const seeds = HOSTS.map((host) => web.url(host, '/0'));
  await startCrawl(CRAWL, seeds, web.network.resolve);
  await untilMoreIsFetched();
  for (const buildId of ['1.0', '2.0']) {
    const next = await Promise.all([1, 2].map(() => startWorker({ env: { AMBLE_BUILD_ID: buildId } })));
    expect(next[0]?.output().stderr).toContain(`--deployment-name amble --build-id ${buildId}`);
    await makeCurrent(buildId);
    for (const worker of workers) worker.kill('SIGTERM');
    for (const { ended } of workers) expect(await ended).toMatchObject({ code: 0 });
    workers = next;
    const replacedAt = new Date();
    await untilMoreIsFetched();
    const ofBuild = `TemporalWorkerDeploymentVersion = 'amble:${buildId}'`;
    await expect.poll(() => endedPages(replacedAt, ofBuild), { timeout: 60_000 }).toBeGreaterThan(0);
    const ofOthers = `(TemporalWorkerDeploymentVersion IS NULL OR NOT ${ofBuild})`;
    expect(await endedPages(replacedAt, ofOthers)).toBe(0);
  }
  complete = true;
  await waitForEnd(CRAWL);

  const pages = await fleet.db.page.findMany({ where: { crawlId: CRAWL } });
  expect(pages.filter(({ status }) => status !== 'Fetched')).toEqual([]);
  const requested = web.arrivals.filter(({ path }) => path !== '/robots.txt');
  expect(requested.map(({ host, path }) => web.url(host, path)).sort()).toEqual(
    pages.map(({ url }) => url).sort(),
  );
  expect(await run('verify', CRAWL)).toMatch(/polite/i);
});
