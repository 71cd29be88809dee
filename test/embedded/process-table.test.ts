import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { commandLineOf, currentProcess, isAlive, processExists } from '../../src/embedded/process-table.ts';

test('a process with the same pid but another start time is a different process', async () => {
  const me = await currentProcess();
  expect(await isAlive(me)).toBe(true);
  expect(await isAlive({ ...me, start: 'earlier' })).toBe(false);
});

test('a process has a command line at every moment of an exec', async () => {
  // The moment without one is short: about one read in a hundred hits it.
  for (let time = 0; time < 200; time++) {
    const child = spawn('/bin/sh', ['-c', 'exec "$@"', 'sh', '/bin/sh', '-c', 'read _', 'the-marker']);
    const exit = once(child, 'exit');
    await once(child, 'spawn');
    expect(await commandLineOf(child.pid ?? 0)).toContain('the-marker');
    child.stdin.end();
    await exit;
  }
});

test('an exited process has no command line', async () => {
  const child = spawn('/bin/sh', ['-c', 'exit 0']);
  await once(child, 'exit');
  expect(await commandLineOf(child.pid ?? 0)).toBeNull();
});

test('a zombie does not count as a process', async () => {
  expect(await processExists(process.pid)).toBe(true);
  // The shell, which would reap its child, replaces itself by a program that does not.
  const parent = spawn('/bin/sh', ['-c', 'sleep 60 & echo $!; exec sleep 60']);
  const [line] = await once(parent.stdout, 'data');
  const child = Number(String(line));
  await expect.poll(() => commandLineOf(parent.pid ?? 0)).toMatch(/^sleep/);
  expect(await processExists(child)).toBe(true);
  process.kill(child, 'SIGKILL');
  await expect.poll(() => processExists(child)).toBe(false);
  expect(process.kill(child, 0), 'the zombie still has its pid').toBe(true);
  const exit = once(parent, 'exit');
  parent.kill('SIGKILL');
  await exit;
});
