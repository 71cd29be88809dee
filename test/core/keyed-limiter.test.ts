import { expect, test } from 'vitest';
import { createKeyedLimiter, type KeyedLimiter } from '../../src/core/keyed-limiter.ts';

/** Tasks that run until the test finishes them. */
function tasksOn(limit: KeyedLimiter) {
  const finishers = new Map<string, (error?: Error) => void>();
  const running: string[] = [];
  const run = (key: string, name: string, signal?: AbortSignal): Promise<void> =>
    limit(
      key,
      () => {
        running.push(name);
        return new Promise<void>((resolve, reject) => {
          finishers.set(name, (error) => (error === undefined ? resolve() : reject(error)));
        }).finally(() => running.splice(running.indexOf(name), 1));
      },
      signal,
    );
  return { run, running, finish: (name: string, error?: Error) => finishers.get(name)?.(error) };
}

test('runs at most the given number of tasks of a key at a time, in order of arrival', async () => {
  const { run, running, finish } = tasksOn(createKeyedLimiter(2));
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => run('site', name));
  expect(running).toEqual(['a', 'b']);
  finish('b');
  await b;
  expect(running).toEqual(['a', 'c']);
  finish('a');
  await a;
  expect(running).toEqual(['c', 'd']);
  finish('c');
  finish('d');
  await Promise.all([c, d]);
  expect(running).toEqual([]);
});

test('a new task cannot overtake one that waits', async () => {
  const { run, running, finish } = tasksOn(createKeyedLimiter(1));
  const first = run('site', 'first');
  const second = run('site', 'second');
  finish('first');
  await first;
  const late = run('site', 'late');
  expect(running).toEqual(['second']);
  finish('second');
  await second;
  expect(running).toEqual(['late']);
  finish('late');
  await late;
});

test('a task that fails rejects its own caller and frees its place', async () => {
  const { run, running, finish } = tasksOn(createKeyedLimiter(1));
  const first = run('site', 'first');
  const second = run('site', 'second');
  finish('first', new Error('failed'));
  await expect(first).rejects.toThrow('failed');
  expect(running).toEqual(['second']);
  finish('second');
  await second;
});

test('aborting removes a task that waits, and no other', async () => {
  const { run, running, finish } = tasksOn(createKeyedLimiter(1));
  const abort = new AbortController();
  const first = run('site', 'first', abort.signal);
  const second = run('site', 'second', abort.signal);
  const third = run('site', 'third');
  abort.abort(new Error('given up'));
  await expect(second).rejects.toThrow('given up');
  expect(running).toEqual(['first']);
  finish('first');
  await first;
  expect(running).toEqual(['third']);
  finish('third');
  await third;
  await expect(run('site', 'fourth', abort.signal)).rejects.toThrow('given up');
});

test('tasks with different keys do not wait for each other', async () => {
  const { run, running, finish } = tasksOn(createKeyedLimiter(1));
  const both = [run('one', 'a'), run('other', 'b')];
  expect(running).toEqual(['a', 'b']);
  finish('a');
  finish('b');
  await Promise.all(both);
});

test('returns what the task returns', async () => {
  expect(await createKeyedLimiter(1)('site', async () => 42)).toBe(42);
});
