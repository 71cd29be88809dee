import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { commandLineOf, isAlive, thisProcess } from '../../src/engines/process-table.ts';

test('a process is alive under its own start only: a pid that was given out again is another process', async () => {
  const me = await thisProcess();
  expect(await isAlive(me)).toBe(true);
  expect(await isAlive({ ...me, start: 'earlier' })).toBe(false);
});

test('a process is known by its command line at every moment of becoming another program', async () => {
  // The moment without one is short: about one in a hundred looks hits it.
  for (let time = 0; time < 200; time++) {
    const child = spawn('/bin/sh', ['-c', 'exec "$@"', 'sh', '/bin/sh', '-c', 'read _', 'the-marker']);
    const exit = once(child, 'exit');
    await once(child, 'spawn');
    expect(await commandLineOf(child.pid ?? 0)).toContain('the-marker');
    child.stdin.end();
    await exit;
  }
});

test('a process that ended has no command line', async () => {
  const child = spawn('/bin/sh', ['-c', 'exit 0']);
  await once(child, 'exit');
  expect(await commandLineOf(child.pid ?? 0)).toBeNull();
});
