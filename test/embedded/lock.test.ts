import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readdir, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from '../../src/embedded/lock.ts';

let directory: string;

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'amble-lock-'));
});

afterEach(async () => {
  await rm(directory, { recursive: true, force: true });
});

test('never are two inside at once, everybody gets in, and no ticket is left', async () => {
  let inside = 0;
  let most = 0;
  let visits = 0;
  const visit = () =>
    withLock(
      directory,
      () => {},
      async () => {
        inside++;
        most = Math.max(most, inside);
        for (let turn = 0; turn < 10; turn++) await nextTurn();
        inside--;
        visits++;
      },
    );
  await Promise.all(Array.from({ length: 20 }, visit));
  expect({ most, visits }).toEqual({ most: 1, visits: 20 });
  expect(await readdir(directory)).toEqual([]);
});

test('work that fails gives the lock back', async () => {
  const failing = withLock(
    directory,
    () => {},
    () => Promise.reject(new Error('no luck')),
  );
  await expect(failing).rejects.toThrow('no luck');
  expect(
    await withLock(
      directory,
      () => {},
      async () => 'in',
    ),
  ).toBe('in');
});

test('who waits is told for whom, and passes over a holder that was killed', async () => {
  const lock = new URL('../../dist/src/embedded/lock.js', import.meta.url);
  const script = `
    import { withLock } from ${JSON.stringify(lock.href)};
    await withLock(${JSON.stringify(directory)}, () => {}, () => new Promise(() => {
      console.log('in');
      setInterval(() => {}, 1000);
    }));`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  await once(holder.stdout, 'data');
  const told: number[] = [];
  const result = await withLock(
    directory,
    (pid) => {
      told.push(pid);
      holder.kill('SIGKILL');
    },
    async () => 'in',
  );
  expect(result).toBe('in');
  expect(told).toEqual([holder.pid]);
});
