import { expect, test } from 'vitest';
import { FetchLateness } from '../../src/worker/fetch-lateness.ts';

const NOON = 1_000_000;

/** Records fetches that were so late, in milliseconds. */
function recordAll(lateness: FetchLateness, late: number[]): FetchLateness {
  for (const ms of late) lateness.record(NOON + ms, NOON);
  return lateness;
}

const times = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms);

test('a process whose fetches are scheduled ahead of their slots keeps up', () => {
  expect(recordAll(new FetchLateness(), times(50, -900)).isBehind).toBe(false);
});

test('a process with a few late fetches among many keeps up', () => {
  expect(recordAll(new FetchLateness(), [...times(4, 2_000), ...times(16, 50)]).isBehind).toBe(false);
});

test('a process with many late fetches is behind, until others are in time again', () => {
  const lateness = recordAll(new FetchLateness(), times(5, 400));
  expect(lateness.isBehind).toBe(true);
  expect(recordAll(lateness, times(16, 50)).isBehind).toBe(false);
});

test('late fetches of some time ago do not count', () => {
  let now = 0;
  const lateness = recordAll(new FetchLateness(() => now), times(20, 400));
  now = 11_000;
  expect(lateness.isBehind).toBe(false);
});
