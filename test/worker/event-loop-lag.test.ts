import { afterEach, beforeEach, expect, test } from 'vitest';
import { type EventLoopLag, watchEventLoopLag } from '../../src/worker/event-loop-lag.ts';

let lag: EventLoopLag;
beforeEach(() => {
  lag = watchEventLoopLag();
});
afterEach(() => lag.stop());

function block(ms: number): void {
  const until = performance.now() + ms;
  while (performance.now() < until);
}

test('a short block is not a lag', () => {
  const since = performance.now();
  block(50);
  expect(lag.laggedSince(since)).toBe(false);
});

test('a block of over a second is reported at once, but not for work that began after it', () => {
  const before = performance.now();
  block(1_200);
  expect(lag.laggedSince(before)).toBe(true);
  expect(lag.laggedSince(performance.now())).toBe(false);
  expect(lag.laggedSince(before)).toBe(true);
});
