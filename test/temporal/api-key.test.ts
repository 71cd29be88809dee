import { expect, test } from 'vitest';
import { createApiKey } from '../../src/temporal/api-key.ts';

test('an API key is read again after the interval, and kept if it cannot be read or is empty', () => {
  let now = 0;
  let source: () => string | undefined = () => 'second';
  const key = createApiKey('first', () => source(), { intervalMs: 100, now: () => now });
  expect(key()).toBe('first');
  now = 99;
  expect(key()).toBe('first');
  now = 100;
  expect(key()).toBe('second');
  for (const failing of [
    () => '',
    () => undefined,
    () => {
      throw new Error('the file is gone');
    },
  ]) {
    source = failing;
    now += 100;
    expect(key()).toBe('second');
  }
});
