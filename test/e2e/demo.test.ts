import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { startDemoWeb } from '../../src/demo/index.ts';
import { createInstallation, type Ended, type Installation } from './support.ts';

let amble: Installation;
let demo: Ended;
let left: string[];

beforeAll(async () => {
  amble = await createInstallation();
  demo = await amble.run('demo');
  left = await amble.processes();
});

afterAll(async () => {
  await amble?.remove();
});

test('the demo crawls its whole web and exits with 0', async () => {
  const web = await startDemoWeb();
  await web.stop();
  const count = (status: string) => web.expected.filter((page) => page.status === status).length;
  expect(demo.code, demo.stderr).toBe(0);
  expect(demo.stdout).toMatch(
    new RegExp(`^Crawl demo completed in .*: ${web.expected.length} pages found\\.$`, 'm'),
  );
  for (const status of ['Fetched', 'Redirected', 'Rejected', 'Blocked', 'Failed'])
    expect(demo.stdout).toMatch(new RegExp(`^ +${status} +${count(status)}$`, 'm'));
});

test('without a terminal, progress is plain lines on standard error', () => {
  expect(demo.stderr).toMatch(/^demo: \d+ of \d+ pages/m);
  expect(demo.stderr + demo.stdout).not.toContain('\x1b');
});

test('without a terminal it serves its dashboard while it runs, and does not stay', () => {
  expect(demo.stderr).toMatch(/^Dashboard: http:\/\/localhost:\d+\/$/m);
  expect(demo.stderr).not.toContain('stays up');
});

test('it prints where its data is and where the Temporal Web UI was', () => {
  expect(demo.stdout).toContain(`The data is in ${join(amble.home, 'demo')}.`);
  expect(demo.stdout).toMatch(/Temporal Web UI .*http:\/\/127\.0\.0\.1:\d+/);
});

test('it leaves no process behind', () => {
  expect(left).toEqual([]);
});

test('its results can be inspected afterwards with the command it prints', async () => {
  const home = join(amble.home, 'demo');
  expect(demo.stdout).toContain(`amble status demo --home ${home}`);
  const status = await amble.run('status', 'demo', '--home', home);
  expect(status.code).toBe(0);
  expect(status.stdout).toContain('Crawl demo completed');
});
