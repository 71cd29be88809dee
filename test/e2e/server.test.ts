/** What programs that serve the dashboard print about it, and what is there. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { createInstallation, type Installation, type RunningProgram } from './support.ts';

const TOKEN = 'correct-horse-battery-staple';
/** A line of text, or of JSON. */
const OPEN = /Others than this machine may open it; they are asked for the token\./;

let amble: Installation;

beforeAll(async () => {
  const settings = { listen: '127.0.0.1:0', serverToken: TOKEN, serverHosts: ['crawl.example'] };
  amble = await createInstallation({ settings });
});
afterAll(async () => {
  await amble?.remove();
});

async function statusOf(url: string, token = TOKEN): Promise<number> {
  return (await fetch(url, { headers: { Authorization: `Bearer ${token}` } })).status;
}

async function stop(program: RunningProgram): Promise<void> {
  program.kill('SIGTERM');
  const { code, stderr } = await program.ended;
  expect(code, stderr).toBe(0);
}

test('a server for others says that they are asked for the token, and asks for it', async () => {
  const server = amble.start('server');
  const [, url] = await server.waitForStderr(/Dashboard: (http:[^\s"]+)/);
  await server.waitForStderr(OPEN);
  expect(await statusOf(`${url}now.json`)).toBe(200);
  expect((await fetch(`${url}now.json`)).status).toBe(401);
  await stop(server);
});

test('a server may serve the page for owners of sites alone', async () => {
  const server = amble.start('server', '--bot-only');
  const [, url] = await server.waitForStderr(/The page for owners of sites: (http:[^\s"]+)bot/);
  expect((await fetch(`${url}bot`)).status).toBe(200);
  expect(await statusOf(`${url}now.json`)).toBe(404);
  await stop(server);
  expect(server.output().stderr).not.toMatch(OPEN);
});

test('amble up prints the address of its dashboard', async () => {
  const up = amble.start('up');
  const [, url] = await up.waitForStderr(/Dashboard: (http:[^\s"]+)/);
  await up.waitForStderr(OPEN);
  expect(await statusOf(`${url}health.json`)).toBe(200);
  await stop(up);
});

test('the demo stays up on request, with its dashboard, until it is stopped', async () => {
  const demo = amble.start('demo', '--stay');
  const [, url] = await demo.waitForStderr(/^The demo stays up at (http:\S+)\. Press any key to stop it\.$/m);
  expect(demo.output().stderr).toContain(`Dashboard: ${url}`);
  expect(await statusOf(`${url}crawls/demo.json`)).toBe(200);
  await stop(demo);
});
