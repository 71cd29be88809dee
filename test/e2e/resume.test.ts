import { describe, expect, type TestContext, test, vi } from 'vitest';
import { z } from 'zod';
import { shortGapsOnArrival, shortGapsOnRecord } from '../support/gaps.ts';
import { initialiseHome } from '../support/initialised-home.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { createInstallation, type Installation, lastLine, networkFlags, tally } from './support.ts';

// What a killed worker was doing is noticed only after a timeout, which may take half a minute.
vi.setConfig({ testTimeout: 180_000 });

const DELAY_MS = 150;
const PAGES = 20;
const gapMs = () => DELAY_MS;

/** A web and an installation of the test's own: the tests wait for most of their time, so that they run together. */
async function install({ onTestFinished }: TestContext): Promise<{ web: TestWeb; amble: Installation }> {
  const web = await startWeb({ one: flatSite(PAGES), two: flatSite(PAGES) });
  onTestFinished(() => web.stop());
  // A dead worker is noticed soon enough for a test to wait for it.
  const amble = await createInstallation({
    tuning: { heartbeatMs: 2_000, throttle: { startWindowMs: 2_000 } },
  });
  onTestFinished(() => amble.remove());
  await initialiseHome(amble.home);
  return { web, amble };
}

function newCrawl(web: TestWeb, id: string, delayMs = DELAY_MS): string[] {
  const seeds = [web.url('one'), web.url('two')];
  return ['crawl', ...seeds, '--id', id, '--delay', `${delayMs}ms`, ...networkFlags(web.network.resolve)];
}

async function arrivals(web: TestWeb, count: number): Promise<void> {
  await vi.waitFor(() => expect(web.arrivals.length).toBeGreaterThanOrEqual(count), {
    timeout: 30_000,
    interval: 20,
  });
}

/** How often each page and robots.txt was requested. */
function visits(web: TestWeb): Record<string, number> {
  return tally(web.arrivals.map(({ host, path }) => web.url(host, path)));
}

const Progress = z.object({
  status: z.string(),
  found: z.number(),
  pages: z.record(z.string(), z.number()),
});

const COMPLETE = {
  status: 'Completed',
  found: 2 * (PAGES + 1),
  pages: { Pending: 0, Queued: 0, Waiting: 0, Fetched: 2 * (PAGES + 1), Failed: 0, Cancelled: 0 },
  attempts: { Success: 2 * (PAGES + 1), Failed: 0, Timeout: 0 },
};

describe('a crawl killed together with its engines', () => {
  test.concurrent('resumes by its id, loses no page, repeats none that was done and keeps the gap', async (context) => {
    const { web, amble } = await install(context);
    const killed = amble.start(...newCrawl(web, 'same'));
    await arrivals(web, PAGES);
    const doneBefore = await amble.look(async ({ db }) => {
      const done = await db.page.findMany({ where: { crawlId: 'same', status: 'Fetched' } });
      killed.kill('SIGKILL');
      await amble.killEngines();
      return done.map(({ url }) => url);
    });
    expect(await killed.ended).toMatchObject({ code: null });
    expect(doneBefore.length).toBeGreaterThan(0);

    const resumed = await amble.run('crawl', '--id', 'same', '--json');
    expect(resumed.stderr).toContain('Resuming crawl same where it stopped.');
    expect(resumed.code).toBe(0);
    expect(lastLine(resumed.stdout)).toMatchObject({ crawl: 'same', ...COMPLETE });
    expect(await amble.processes()).toEqual([]);

    const counts = visits(web);
    for (const url of doneBefore) expect(counts[url], url).toBe(1);
    const repeated = Object.values(counts).filter((count) => count > 1);
    expect(repeated.length).toBeLessThanOrEqual(MAX_IN_FLIGHT);
    expect(shortGapsOnArrival(web.arrivals, gapMs)).toEqual([]);

    const [recorded, shortGaps] = await amble.look(async ({ db }) =>
      Promise.all([db.request.count({ where: { crawlId: 'same' } }), shortGapsOnRecord(db, 'same', gapMs)]),
    );
    expect(shortGaps).toEqual([]);
    expect(recorded).toBeGreaterThanOrEqual(web.arrivals.length - MAX_IN_FLIGHT);

    const again = await amble.run('crawl', '--id', 'same');
    expect(again.stderr).toContain('Crawl same has already ended');
    expect(again.stdout).toMatch(/^Crawl same completed in .*: 42 pages found\.$/m);
    expect(again.code).toBe(0);
  });

  /** On each host one page that is being fetched, and one whose fetch has ended but is not on record yet. */
  const MAX_IN_FLIGHT = 4;
});

test.concurrent('Ctrl-C leaves a crawl that can be resumed, and prints how', async (context) => {
  const { web, amble } = await install(context);
  const left = amble.start(...newCrawl(web, 'pausing'));
  await arrivals(web, PAGES / 2);
  left.kill('SIGINT');
  const { code, stderr, stdout } = await left.ended;
  expect(code).toBe(130);
  expect(stderr).toContain(`amble crawl --id pausing --home ${amble.home}`);
  expect(stderr).toContain(`amble cancel pausing --home ${amble.home}`);
  expect(stdout).toMatch(/^Crawl pausing is running, started .* ago: .* still open\.$/m);
  expect(await amble.processes()).toEqual([]);

  const resumed = await amble.run('crawl', '--id', 'pausing', '--json');
  expect(resumed.code).toBe(0);
  expect(lastLine(resumed.stdout)).toMatchObject({ crawl: 'pausing', ...COMPLETE });
  expect(Object.values(visits(web)).filter((count) => count > 1)).toEqual([]);
  expect(shortGapsOnArrival(web.arrivals, gapMs)).toEqual([]);
});

test.concurrent('a detached crawl continues by itself and can be cancelled', async (context) => {
  const { web, amble } = await install(context);
  // Slow enough not to be done before it is cancelled.
  const slowMs = 1_000;
  const detached = await amble.run(...newCrawl(web, 'detached', slowMs), '--detach', '--json');
  expect(detached.code).toBe(0);
  expect(lastLine(detached.stdout)).toMatchObject({ crawl: 'detached', status: 'Running' });
  const background = /stop the worker: kill (\d+)/.exec(detached.stderr)?.[1];
  expect(await amble.processes()).toContainEqual(expect.stringMatching(`^ *${background} .* up `));
  await arrivals(web, web.arrivals.length + 4);

  const cancelled = await amble.run('cancel', 'detached');
  expect(cancelled.code).toBe(0);
  expect(cancelled.stdout).toMatch(/^Crawl detached was cancelled after /m);
  const arrived = web.arrivals.length;

  const shown = await amble.run('status', 'detached', '--json');
  const { found, pages, status } = Progress.parse(lastLine(shown.stdout));
  expect(status).toBe('Cancelled');
  expect(pages).toMatchObject({ Pending: 0, Queued: 0, Waiting: 0 });
  expect(pages.Fetched).toBeGreaterThan(0);
  expect(pages.Cancelled).toBeGreaterThan(0);
  expect(Object.values(pages).reduce((sum, count) => sum + count, 0)).toBe(found);
  expect(web.arrivals.length).toBe(arrived);
  expect(shortGapsOnArrival(web.arrivals, () => slowMs)).toEqual([]);

  process.kill(Number(background), 'SIGTERM');
  await context.expect.poll(() => amble.processes(), { timeout: 30_000 }).toEqual([]);
});
