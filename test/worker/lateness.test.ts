import { expect, test } from 'vitest';
import { WorkerLateness } from '../../src/worker/lateness.ts';

/** Records fetches that were so late, in milliseconds. */
function recordAll(lateness: WorkerLateness, late: number[]): WorkerLateness {
  for (const ms of late) lateness.recordFetch(ms);
  return lateness;
}

const times = (count: number, ms: number): number[] => Array.from({ length: count }, () => ms);

test('a process whose fetches are scheduled ahead of their slots keeps up', () => {
  expect(recordAll(new WorkerLateness(), times(50, -900)).isBehind).toBe(false);
});

test('a process with a few late fetches among many keeps up', () => {
  expect(recordAll(new WorkerLateness(), [...times(4, 2_000), ...times(16, 50)]).isBehind).toBe(false);
});

test('a process with many late fetches is behind, until others are in time again', () => {
  const lateness = recordAll(new WorkerLateness(), times(5, 400));
  expect(lateness.isBehind).toBe(true);
  expect(recordAll(lateness, times(16, 50)).isBehind).toBe(false);
});

test('late fetches of some time ago do not count', () => {
  let now = 0;
  const lateness = recordAll(new WorkerLateness(() => now), times(20, 400));
  now = 11_000;
  expect(lateness.isBehind).toBe(false);
});

test('a process whose pages wait for their first task is behind', () => {
  const lateness = recordAll(new WorkerLateness(), times(10, -900));
  for (const waitedMs of [1_000, 1_000, 1_000, 1_000, 1_000]) lateness.recordPage(waitedMs);
  expect(lateness.isBehind).toBe(false);
  for (const waitedMs of times(5, 1_001)) lateness.recordPage(waitedMs);
  expect(lateness.isBehind).toBe(true);
});
