import { expect, test } from 'vitest';
import { elapsedAtLeastMs, elapsedAtMostMs } from '../../src/worker/clocks.ts';

const START = { wallMs: 1_000_000, monotonicMs: 500 };
const after = (wallMs: number, monotonicMs: number) => ({
  wallMs: START.wallMs + wallMs,
  monotonicMs: START.monotonicMs + monotonicMs,
});

test('the true time lies between both limits, also if a clock is a little too fast or too slow', () => {
  for (const rate of [1 - 4e-4, 1 + 4e-4]) {
    const now = after(10_000, 10_000 * rate);
    expect(elapsedAtLeastMs(START, now)).toBeLessThanOrEqual(10_000);
    expect(elapsedAtMostMs(START, now)).toBeGreaterThanOrEqual(10_000);
  }
});

test('a machine that was suspended knows that more time may have passed', () => {
  expect(elapsedAtMostMs(START, after(60_000, 100))).toBeGreaterThanOrEqual(60_000);
  expect(elapsedAtLeastMs(START, after(60_000, 100))).toBeLessThanOrEqual(100);
});

test('a wall clock that was set back hides no time', () => {
  expect(elapsedAtMostMs(START, after(-3_600_000, 5_000))).toBeGreaterThanOrEqual(5_000);
});
