import { expect, test } from 'vitest';
import { remember } from '../../src/worker/remember.ts';

/** Remembers up to `most` keys and keeps a list of what was looked up. */
function rememberer(most: number, answer: (key: string) => Promise<string> = async (key) => `<${key}>`) {
  const lookedUp: string[] = [];
  const recall = remember(most, (key) => {
    lookedUp.push(key);
    return answer(key);
  });
  return { recall, lookedUp };
}

test('each key is looked up once, also by callers who come before the answer', async () => {
  const { recall, lookedUp } = rememberer(10);
  expect(await Promise.all([recall('a'), recall('a'), recall('b')])).toEqual(['<a>', '<a>', '<b>']);
  expect(await recall('a')).toBe('<a>');
  expect(lookedUp).toEqual(['a', 'b']);
});

test('beyond its bound it forgets the longest-known key, and only that', async () => {
  const { recall, lookedUp } = rememberer(2);
  for (const key of ['a', 'b', 'c', 'b', 'c', 'a']) await recall(key);
  expect(lookedUp).toEqual(['a', 'b', 'c', 'a']);
});

test('a look-up that failed is tried again by the next caller', async () => {
  let away = true;
  const { recall, lookedUp } = rememberer(10, async (key) => {
    if (away) throw new Error('the database is away');
    return key;
  });
  await expect(recall('a')).rejects.toThrow('the database is away');
  away = false;
  expect(await recall('a')).toBe('a');
  expect(lookedUp).toEqual(['a', 'a']);
});
