import { describe, expect, test } from 'vitest';
import {
  elapsedAtLeastMs,
  elapsedAtMostMs,
  RemoteClock,
  SharedRemoteClock,
} from '../../src/worker/clocks.ts';

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

describe('the clock of another machine', () => {
  const REMOTE = 5_000_000;
  let now = after(0, 0);
  const elapse = (ms: number) => {
    now = { wallMs: now.wallMs + ms, monotonicMs: now.monotonicMs + ms };
  };
  /** Read after `outMs`; the answer takes `backMs`. */
  const read = (remote: number, outMs: number, backMs: number) => {
    const before = now;
    elapse(outMs + backMs);
    return new RemoteClock(remote, before, now, () => now);
  };

  test('is known as precisely as the fastest of the last answers says', () => {
    const clock = new SharedRemoteClock();
    clock.add(read(REMOTE, 1, 1));
    const slow = clock.add(read(REMOTE + 1 + 50, 50, 50));
    const truth = REMOTE + 1 + 100;
    expect(slow.atLeast()).toBeGreaterThan(truth - 2);
    expect(slow.atMost()).toBeLessThan(truth + 4);
    expect(slow.atLeast()).toBeLessThanOrEqual(truth);
    expect(slow.atMost()).toBeGreaterThanOrEqual(truth);
  });

  test('is known from the last answer alone if the ones before are old', () => {
    const clock = new SharedRemoteClock();
    clock.add(read(REMOTE, 1, 1));
    elapse(3_000);
    const slow = clock.add(read(REMOTE + 3_000, 50, 50));
    expect(slow.atMost() - slow.atLeast()).toBeGreaterThan(99);
  });

  test.each([-60_000, 60_000])('that was set by %d ms is believed at once', (byMs) => {
    const clock = new SharedRemoteClock();
    clock.add(read(REMOTE, 1, 1));
    const set = clock.add(read(REMOTE + byMs, 1, 1));
    expect(set.atLeast()).toBeGreaterThan(REMOTE + byMs - 10);
    expect(set.atMost()).toBeLessThan(REMOTE + byMs + 10);
  });
});
