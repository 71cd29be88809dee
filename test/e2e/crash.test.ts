import { rm } from 'node:fs/promises';
import { expect, type TestContext, test, vi } from 'vitest';
import { z } from 'zod';
import { homeAt } from '../../src/embedded/home.ts';
import { shortGapsOnArrival } from '../support/gaps.ts';
import { initialiseHome } from '../support/initialised-home.ts';
import { holdPort } from '../support/test-home.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { createInstallation, type Installation, lastLine, networkFlags } from './support.ts';

// What a killed worker was doing is noticed only after a timeout.
vi.setConfig({ testTimeout: 300_000 });

/** Long enough to inspect a running crawl on a busy machine. */
const DELAY_MS = 1_000;
const PAGES = 10;

/** A web and an installation of the test's own: the tests wait for most of their time, so that they run together. */
async function install({ onTestFinished }: TestContext): Promise<{ web: TestWeb; amble: Installation }> {
  const web = await startWeb({ one: flatSite(PAGES) });
  onTestFinished(() => web.stop());
  const amble = await createInstallation({
    tuning: { heartbeatMs: 2_000, throttle: { startWindowMs: 2_000 } },
  });
  onTestFinished(() => amble.remove());
  await initialiseHome(amble.home);
  return { web, amble };
}

const Status = z.object({ status: z.string(), active: z.boolean(), pages: z.record(z.string(), z.number()) });

async function status(amble: Installation): Promise<z.infer<typeof Status>> {
  return Status.parse(lastLine((await amble.read('status', 'same', '--json')).stdout));
}

/** Crawls in the background until some pages are fetched. */
async function crawlSome({ web, amble }: { web: TestWeb; amble: Installation }): Promise<void> {
  const flags = ['--delay', `${DELAY_MS}ms`, ...networkFlags(web.network.resolve)];
  await amble.run('crawl', web.url('one'), '--id', 'same', '--detach', ...flags);
  await vi.waitFor(() => expect(web.arrivals.length).toBeGreaterThan(2), { timeout: 30_000, interval: 20 });
}

/** The worker, the Temporal server and Postgres, none of them warned. */
async function killEverything(amble: Installation): Promise<void> {
  for (const line of await amble.processes()) process.kill(Number.parseInt(line, 10), 'SIGKILL');
}

const COMPLETE = { Pending: 0, Queued: 0, Waiting: 0, Fetched: PAGES + 1 };

test.concurrent('a crawl whose processes were all killed is shown as such, and resumes although its ports are taken', async (context) => {
  const { web, amble } = await install(context);
  await crawlSome({ web, amble });
  expect(await status(amble)).toMatchObject({ status: 'Running', active: true });
  const ports = await amble.ports();
  await killEverything(amble);
  const holders = await Promise.all(ports.map((port) => holdPort(port)));

  const stopped = await status(amble);
  expect(stopped).toMatchObject({ status: 'Running', active: false });
  const { stdout } = await amble.run('status', 'same');
  expect(stdout).toMatch(
    /^Crawl same is unfinished \(Running\), started .* ago: 11 pages found, \d+ pages? still open\.$/m,
  );
  expect(stdout).toContain('It is stalled: no Temporal server is running.');
  expect(stdout).toContain(`To continue it: amble crawl --id same --home ${amble.home}`);
  expect((await amble.read('status')).stdout).toMatch(/^same +Running \(stalled\) +11 /m);
  // Reading has changed nothing.
  expect(await status(amble)).toMatchObject({ active: false, pages: stopped.pages });

  const resumed = await amble.run('crawl', '--id', 'same', '--json');
  expect(resumed.code, resumed.stderr).toBe(0);
  expect(lastLine(resumed.stdout)).toMatchObject({ status: 'Completed', pages: COMPLETE });
  expect(shortGapsOnArrival(web.arrivals, () => DELAY_MS)).toEqual([]);
  for (const holder of holders) await holder.release();
});

async function loseTemporalDatabase(amble: Installation): Promise<void> {
  const { database } = homeAt(amble.home).temporal;
  for (const part of ['', '-wal', '-shm']) await rm(`${database}${part}`, { force: true });
}

test.concurrent('"amble up" resumes a crawl whose Temporal database was lost, before its start or while it runs', async (context) => {
  const { web, amble } = await install(context);
  await crawlSome({ web, amble });
  await killEverything(amble);
  await loseTemporalDatabase(amble);

  const worker = amble.start('worker');
  await worker.waitForStderr(/Worker ready/);
  expect(await status(amble)).toMatchObject({ status: 'Running', active: false });
  expect((await amble.read('status', 'same')).stdout).toContain(
    `It is stalled: the Temporal server has no workflow for it. To continue it: amble crawl --id same --home ${amble.home}`,
  );

  const up = amble.start('up');
  const resumed = /Resuming crawl same: it is unfinished, and the Temporal server has no workflow for it/g;
  await up.waitForStderr(resumed);
  expect(await status(amble)).toMatchObject({ status: 'Running', active: true });
  worker.kill('SIGTERM');
  await worker.ended;

  await loseTemporalDatabase(amble);
  await amble.killEngine('temporal');
  const times = () => up.output().stderr.match(resumed)?.length;
  await context.expect.poll(times, { timeout: 60_000 }).toBe(2);
  await context.expect
    .poll(() => status(amble), { timeout: 200_000, interval: 500 })
    .toMatchObject({ status: 'Completed', active: false, pages: COMPLETE });
  up.kill('SIGTERM');
  expect(await up.ended).toMatchObject({ code: 0 });
  expect(shortGapsOnArrival(web.arrivals, () => DELAY_MS)).toEqual([]);
});

test.concurrent('a crawl whose worker was killed is shown without a worker', async (context) => {
  const { web, amble } = await install(context);
  await crawlSome({ web, amble });
  const worker = (await amble.processes()).find((line) => / up /.test(line)) ?? '';
  process.kill(Number.parseInt(worker, 10), 'SIGKILL');
  expect(await status(amble)).toMatchObject({ status: 'Running', active: false });
});
