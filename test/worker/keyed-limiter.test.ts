import { expect, test } from 'vitest';
import { createKeyedLimiter } from '../../src/worker/keyed-limiter.ts';

/** Callers that stay inside until they are told to leave. */
function crowdAt(pass: ReturnType<typeof createKeyedLimiter>) {
  const leave = new Map<string, (error?: Error) => void>();
  const inside: string[] = [];
  const come = (key: string, name: string): Promise<void> =>
    pass(key, () => {
      inside.push(name);
      return new Promise<void>((resolve, reject) => {
        leave.set(name, (error) => (error === undefined ? resolve() : reject(error)));
      });
    }).finally(() => inside.splice(inside.indexOf(name), 1));
  return { come, inside, leave: (name: string, error?: Error) => leave.get(name)?.(error) };
}

test('at most its width is inside, and the others follow in the order they came', async () => {
  const { come, inside, leave } = crowdAt(createKeyedLimiter(2));
  const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => come('site', name));
  expect(inside).toEqual(['a', 'b']);
  leave('b');
  await b;
  expect(inside).toEqual(['a', 'c']);
  leave('a');
  await a;
  expect(inside).toEqual(['c', 'd']);
  leave('c');
  leave('d');
  await Promise.all([c, d]);
  expect(inside).toEqual([]);
});

test('nobody who comes later slips in while a place is handed over', async () => {
  const { come, inside, leave } = crowdAt(createKeyedLimiter(1));
  const first = come('site', 'first');
  const second = come('site', 'second');
  leave('first');
  await first;
  const late = come('site', 'late');
  expect(inside).toEqual(['second']);
  leave('second');
  await second;
  expect(inside).toEqual(['late']);
  leave('late');
  await late;
});

test('one who fails makes room as well, and hears its own failure', async () => {
  const { come, inside, leave } = crowdAt(createKeyedLimiter(1));
  const first = come('site', 'first');
  const second = come('site', 'second');
  leave('first', new Error('lost my way'));
  await expect(first).rejects.toThrow('lost my way');
  expect(inside).toEqual(['second']);
  leave('second');
  await second;
});

test('callers with different keys do not wait for each other', async () => {
  const { come, inside, leave } = crowdAt(createKeyedLimiter(1));
  const both = [come('one', 'a'), come('other', 'b')];
  expect(inside).toEqual(['a', 'b']);
  leave('a');
  leave('b');
  await Promise.all(both);
});

test('what a caller brings out is handed on', async () => {
  expect(await createKeyedLimiter(1)('site', async () => 42)).toBe(42);
});
