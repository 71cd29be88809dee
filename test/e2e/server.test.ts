/** What programs that serve the dashboard print about it, and what is there. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
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

async function childrenOf(parents: readonly number[]): Promise<number[]> {
  const { stdout } = await promisify(execFile)('ps', ['-A', '-o', 'pid=,ppid=']);
  return stdout.split('\n').flatMap((line) => {
    const [pid = 0, parent = 0] = line.trim().split(/ +/).map(Number);
    return parents.includes(parent) ? [pid] : [];
  });
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

test('a server whose Postgres or Temporal is frozen answers, says what is missing, and recovers', async () => {
  const server = amble.start('server');
  const [, url] = await server.waitForStderr(/Dashboard: (http:[^\s"]+)/);
  const read = async (path: string) =>
    (await fetch(url + path, { headers: { Authorization: `Bearer ${TOKEN}` } })).text();
  const signal = async (program: RegExp, name: NodeJS.Signals) => {
    const found = (await amble.processes()).filter((line) => program.test(line));
    expect(found).not.toEqual([]);
    const pids = found.map((line) => Number.parseInt(line, 10));
    // Postgres has a process for each connection.
    for (const pid of [...pids, ...(await childrenOf(pids))]) process.kill(pid, name);
  };
  expect(await read('now')).not.toContain('has been unavailable');
  for (const [program, missing] of [
    [/postgres/, 'Postgres has been unavailable since'],
    [/temporal/, 'Temporal is unavailable'],
  ] as const) {
    const path = missing.startsWith('Postgres') ? 'now' : 'health';
    await signal(program, 'SIGSTOP');
    expect(await read(path)).toContain(missing);
    await signal(program, 'SIGCONT');
    await expect.poll(() => read(path), { timeout: 30_000 }).not.toContain(missing);
  }
  await stop(server);
});
