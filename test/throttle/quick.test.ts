import { describe, expect, test } from 'vitest';
import { release } from '../../src/throttle/index.ts';
import { anAsk, fixed, granted, middle, NOON, openThrottle, startedNow } from './support.ts';

/** Of the second lease, if the first request went like this. */
function secondIsQuick(first: Parameters<typeof startedNow>, delayMs: number): boolean {
  const state = openThrottle();
  const delay = fixed(delayMs);
  const { id: leaseId } = granted(state, anAsk('first', { delay }), NOON);
  release(state, { leaseId, use: startedNow(...first) }, NOON + 600, middle);
  return granted(state, anAsk('second', { delay }), NOON + 600).quick;
}

describe('a page fetches within its workflow task', () => {
  test('if the site has answered within half a second', () => {
    expect(secondIsQuick(['ok', { durationMs: 500 }], 10_000)).toBe(true);
  });

  test('but not if the site is slower', () => {
    expect(secondIsQuick(['ok', { durationMs: 501 }], 10_000)).toBe(false);
  });

  test('nor if nothing is known of the site', () => {
    expect(granted(openThrottle(), anAsk('first'), NOON).quick).toBe(false);
  });

  test.each(['broken', 'unknown', 'client-error'] as const)(
    'nor after a response that was %s',
    (response) => {
      expect(secondIsQuick([response, { durationMs: 5 }], 10_000)).toBe(false);
    },
  );

  test('nor with a gap of less than a second', () => {
    expect(secondIsQuick(['ok', { durationMs: 5 }], 1_000)).toBe(true);
    expect(secondIsQuick(['ok', { durationMs: 5 }], 999)).toBe(false);
  });
});
