/** Embedded engines and the command that runs on them: engines die, and the command is stopped. */
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { shortGapsOnArrival } from '../support/gaps.ts';
import { initialiseHome } from '../support/initialised-home.ts';
import { holdPort } from '../support/test-home.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';
import { createInstallation, type Installation, lastLine, networkFlags } from './support.ts';

vi.setConfig({ testTimeout: 180_000 });

const DELAY_MS = 300;
const PAGES = 25;
/** Longer than a stop takes that waits for nothing. */
const SLOW_MS = 10_000;

let web: TestWeb;
let amble: Installation;

beforeEach(async () => {
  web = await startWeb({
    one: flatSite(PAGES),
    slow: (path) => (path === '/' ? { body: 'Slow.', afterMs: SLOW_MS } : undefined),
  });
  amble = await createInstallation({ tuning: { heartbeatMs: 2_000, throttle: { startWindowMs: 2_000 } } });
  await initialiseHome(amble.home);
});

afterEach(async () => {
  await amble.remove();
  await web.stop();
});

function crawl(host: string, ...more: string[]) {
  const flags = ['--delay', `${DELAY_MS}ms`, ...networkFlags(web.network.resolve), ...more];
  return amble.start('crawl', web.url(host), '--id', 'same', ...flags);
}

async function arrivals(count: number): Promise<void> {
  await expect
    .poll(() => web.arrivals.length, { timeout: 90_000, interval: 20 })
    .toBeGreaterThanOrEqual(count);
}

test('a crawl restarts engines that are killed under it, and completes', async () => {
  const crawling = crawl('one', '--json');
  await arrivals(5);
  const ports = await amble.ports();
  await amble.killEngine('postgres');
  await arrivals(web.arrivals.length + 5);
  await amble.killEngine('temporal');
  await arrivals(web.arrivals.length + 5);
  expect(await amble.ports()).toEqual(ports);

  const { code, stdout, stderr } = await crawling.ended;
  expect(code, stderr).toBe(0);
  // One line, and nothing else.
  expect(stdout.trimEnd().split('\n')).toHaveLength(1);
  expect(lastLine(stdout)).toMatchObject({
    status: 'Completed',
    found: PAGES + 1,
    pages: { Fetched: PAGES + 1, Failed: 0 },
  });
  // It polls once a second: a shorter outage is not logged.
  const logged = stderr.match(/Postgres unavailable; retrying/g) ?? [];
  expect(logged.length).toBeLessThanOrEqual(1);
  expect(stderr.match(/Postgres available again/g) ?? []).toHaveLength(logged.length);
  expect(shortGapsOnArrival(web.arrivals, () => DELAY_MS)).toEqual([]);
  expect(await amble.processes()).toEqual([]);
});

test('a command whose engine comes back on another port exits with an error', async () => {
  await amble.remove();
  amble = await createInstallation({ settings: { shutdownTimeout: '2s' } });
  const up = amble.start('up');
  await up.waitForStderr(/Amble is up/);
  const [port = 0] = await amble.ports();
  // The test, not the engine, must get the port that is free now.
  up.kill('SIGSTOP');
  await amble.killEngine('temporal');
  const holder = await holdPort(port);
  up.kill('SIGCONT');
  const { code, stderr } = await up.ended;
  expect({ code, lastWords: stderr.trimEnd().split('\n').at(-1) }).toEqual({
    code: 1,
    lastWords: expect.stringMatching(
      /"msg":"amble: The embedded Temporal server died\. Its port \d+ was taken, so it was restarted on port \d+\./,
    ),
  });
  expect(await amble.processes()).toEqual([]);
  await holder.release();
});

test('a second Ctrl-C ends a crawl and its engines at once', async () => {
  const crawling = crawl('slow');
  // robots.txt, then the slow page.
  await arrivals(2);
  crawling.kill('SIGINT');
  await crawling.waitForStderr(/Press Ctrl-C again to stop immediately/);
  // One key press may arrive as two signals: those are a few milliseconds apart.
  await new Promise((resolve) => setTimeout(resolve, 400));
  crawling.kill('SIGINT');
  const began = performance.now();
  expect(await crawling.ended).toMatchObject({ code: 130 });
  expect(performance.now() - began).toBeLessThan(3_000);
  await expect.poll(() => amble.processes(), { timeout: 30_000 }).toEqual([]);
});
