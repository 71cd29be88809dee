import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EventLoopLag, watchEventLoopLag } from '../../src/worker/event-loop-lag.ts';

let lag: EventLoopLag;
beforeEach(() => {
  lag = watchEventLoopLag();
});
afterEach(() => lag.stop());

function standStill(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('a process that kept up did not lag', () => {
  const since = performance.now();
  standStill(50);
  expect(lag.laggedSince(since)).toBe(false);
});

test('over a second of standing still is noticed at once, and is over for whoever begins after it', () => {
  const before = performance.now();
  standStill(1_200);
  expect(lag.laggedSince(before)).toBe(true);
  expect(lag.laggedSince(performance.now())).toBe(false);
  expect(lag.laggedSince(before)).toBe(true);
});
