import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { withLock } from '../../src/embedded/lock.ts';

let directory: string;
let file: string;
const holders: ChildProcess[] = [];

beforeEach(async () => {
  directory = await mkdtemp(join(tmpdir(), 'amble-lock-'));
  file = join(directory, 'lock');
});

afterEach(async () => {
  for (const holder of holders.splice(0)) holder.kill('SIGKILL');
  await rm(directory, { recursive: true, force: true });
});

/** A process that holds the lock until it is killed, and starts a program that outlives it. */
async function startHolder(): Promise<{ holder: ChildProcess; child: number }> {
  const lock = new URL('../../dist/src/embedded/lock.js', import.meta.url);
  const script = `
    import { spawn } from 'node:child_process';
    import { withLock } from ${JSON.stringify(lock.href)};
    await withLock(${JSON.stringify(file)}, () => {}, () => new Promise(() => {
      const child = spawn('/bin/sleep', ['60'], { detached: true, stdio: 'ignore' });
      console.log(child.pid);
      setInterval(() => {}, 1000);
    }));`;
  const holder = spawn(process.execPath, ['--input-type=module', '--eval', script]);
  holders.push(holder);
  const [line] = await once(holder.stdout, 'data');
  return { holder, child: Number(String(line)) };
}

const ignore = (): void => {};

test('no two callers hold the lock at once, and every caller gets it', async () => {
  let holding = 0;
  let most = 0;
  let calls = 0;
  const call = () =>
    withLock(file, ignore, async () => {
      holding++;
      most = Math.max(most, holding);
      for (let turn = 0; turn < 10; turn++) await nextTurn();
      holding--;
      calls++;
    });
  await Promise.all(Array.from({ length: 20 }, call));
  expect({ most, calls }).toEqual({ most: 1, calls: 20 });
});

test('work that fails releases the lock', async () => {
  await expect(withLock(file, ignore, () => Promise.reject(new Error('failed')))).rejects.toThrow('failed');
  expect(await withLock(file, ignore, async () => 'held')).toBe('held');
});

test('a waiting process learns who holds the lock, and gets it when that one is killed', async () => {
  const { holder, child } = await startHolder();
  const notified: number[] = [];
  const onWait = (pid: number): void => {
    notified.push(pid);
    holder.kill('SIGKILL');
  };
  try {
    expect(await withLock(file, onWait, async () => 'held')).toBe('held');
    expect(notified).toEqual([holder.pid]);
    expect(process.kill(child, 0), 'the program that the holder started still runs').toBe(true);
  } finally {
    process.kill(child, 'SIGKILL');
  }
});

test('the file reached by another path is the same lock', async () => {
  await writeFile(file, '');
  const other = join(directory, 'other');
  await symlink(file, other);
  const order: string[] = [];
  await withLock(file, ignore, async () => {
    const second = withLock(other, ignore, async () => order.push('second'));
    await nextTurn();
    order.push('first');
    return { second };
  }).then(({ second }) => second);
  expect(order).toEqual(['first', 'second']);
});

test('locks on different files do not exclude each other', async () => {
  const inner = withLock(file, ignore, () => withLock(join(directory, 'other'), ignore, async () => 'both'));
  expect(await inner).toBe('both');
});
