import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { probeTemporal } from '../../src/temporal/probe.ts';
import { initialiseHome } from '../support/initialised-home.ts';
import { createTestHome, type HomeOfTest, holdPort } from '../support/test-home.ts';

let home: HomeOfTest;
const bystanders: ChildProcess[] = [];

beforeEach(async () => {
  home = await createTestHome();
  await initialiseHome(home.directory);
});

afterEach(async () => {
  for (const bystander of bystanders.splice(0)) bystander.kill('SIGKILL');
  await home.remove();
});

async function killEngines(): Promise<void> {
  const { postgres, temporal } = await home.pids();
  for (const pid of [postgres, temporal]) process.kill(pid, 'SIGKILL');
}

function portOf(address: string): number {
  return Number(new URL(`tcp://${address}`).port);
}

test('engines whose ports were taken while they were down restart on other ports, with their data', async () => {
  const first = home.user();
  const before = await first.engines;
  await first.kill();
  await killEngines();
  const taken = [portOf(before.temporal.address), Number(new URL(before.databaseUrl).port)];
  const holders = await Promise.all(taken.map((port) => holdPort(port)));

  const next = home.user();
  const { temporal, databaseUrl } = await next.engines;
  expect(taken).not.toContain(portOf(temporal.address));
  expect(taken).not.toContain(Number(new URL(databaseUrl).port));
  expect(await probeTemporal(temporal)).toBe('serving');
  await next.leave();
  for (const holder of holders) await holder.release();
});

test('Postgres starts even if another process has the pid of the killed one', async () => {
  const first = home.user();
  await first.engines;
  await first.kill();
  await killEngines();
  const { uid, gid } = await stat(home.postgres.data);
  const bystander = spawn('/bin/sleep', ['600'], process.getuid?.() === 0 ? { uid, gid } : {});
  bystanders.push(bystander);
  await once(bystander, 'spawn');
  const pidFile = join(home.postgres.data, 'postmaster.pid');
  const [, ...rest] = (await readFile(pidFile, 'utf8')).split('\n');
  await writeFile(pidFile, [bystander.pid, ...rest].join('\n'));

  const next = home.user();
  await next.engines;
  await next.leave();
  expect(bystander.exitCode ?? bystander.signalCode).toBeNull();
});

test.each([
  ['without its tables', ''],
  ['with other content', 'scrambled '.repeat(1_000)],
])(
  'a Temporal database %s is moved aside, and the server starts with an empty one',
  async (_what, content) => {
    await mkdir(dirname(home.temporal.database), { recursive: true, mode: 0o711 });
    await writeFile(home.temporal.database, content);
    const user = home.user();
    const { temporal } = await user.engines;
    expect(await probeTemporal(temporal)).toBe('serving');
    const [, aside = ''] = /cannot read its database, which was moved to (\S+)\./.exec(user.stderr()) ?? [];
    expect(existsSync(aside)).toBe(true);
    await user.leave();
  },
);

test('after a Temporal server is killed during its first start, the next one starts', async () => {
  for (const waitMs of [0, 30, 60, 120]) {
    const killed = home.user();
    await expect.poll(() => existsSync(home.temporal.database), { interval: 1, timeout: 30_000 }).toBe(true);
    await new Promise((resolve) => setTimeout(resolve, waitMs));
    await killed.kill();
    process.kill(await home.pidOf('temporal'), 'SIGKILL');
  }
  const next = home.user();
  const { temporal } = await next.engines;
  expect(await probeTemporal(temporal)).toBe('serving');
  await next.leave();
  expect(await home.processes()).toEqual([]);
});
