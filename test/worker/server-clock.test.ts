import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ClockReading, elapsedAtLeastMs, ServerClock } from '../../src/worker/server-clock.ts';
import { NOON } from '../throttle/support.ts';

/** Readings of a machine at noon plus `ms`. Its wall clock is an hour behind the server's; its monotonic clock started 1 s before noon. */
const at = (ms: number): ClockReading => ({ wallMs: NOON - 3_600_000 + ms, monotonicMs: 1_000 + ms });
const lease = { notBefore: NOON, startBy: NOON + 15_000, minGapMs: 1_000 };

/** Has one sample, from a call that took the first 100 ms after noon. */
function clock(): ServerClock {
  const clock = new ServerClock();
  clock.sample(NOON + 50, at(0), at(100));
  return clock;
}

describe('a start', () => {
  test('within the lease is allowed and recorded at its earliest possible time', () => {
    expect(clock().checkStart(lease, at(100))).toMatchObject({
      verdict: 'go',
      startedAtEarly: NOON + 50,
      errorMs: 103,
    });
  });

  test('waits until even the early end of the interval reaches notBefore', () => {
    expect(clock().checkStart({ ...lease, notBefore: NOON + 1_000 }, at(100))).toEqual({
      verdict: 'wait',
      ms: 950,
    });
  });

  test('is too late as soon as the late end of the interval passes startBy', () => {
    const best = clock();
    expect(best.checkStart({ ...lease, startBy: NOON + 152 }, at(100)).verdict).toBe('too-late');
    expect(best.checkStart({ ...lease, startBy: NOON + 153 }, at(100)).verdict).toBe('go');
  });

  test('is not allowed before the first sample', () => {
    expect(new ServerClock().checkStart(lease, at(0))).toEqual({
      verdict: 'no-clock',
      reason: 'never sampled',
    });
  });

  test('does not rely on samples older than 5 minutes', () => {
    const longLease = { ...lease, startBy: NOON + 3_600_000 };
    expect(clock().checkStart(longLease, at(300_000)).verdict).toBe('go');
    expect(clock().checkStart(longLease, at(300_001))).toEqual({
      verdict: 'no-clock',
      reason: 'sample too old',
    });
  });

  test('does not rely on a sample after the local clocks have diverged by more than half a second', () => {
    const woken = { ...at(4_000), monotonicMs: at(3_499).monotonicMs };
    expect(clock().checkStart(lease, woken)).toEqual({ verdict: 'no-clock', reason: 'suspended since' });
  });

  test('allows for a sleep too short to be noticed', () => {
    const woken = { ...at(1_000), monotonicMs: at(600).monotonicMs };
    expect(clock().checkStart({ ...lease, startBy: NOON + 1_050 }, woken).verdict).toBe('too-late');
  });

  test('relies on the most precise of the recent samples', () => {
    const best = clock();
    best.sample(NOON + 210, at(205), at(215));
    for (let n = 0; n < 20; n += 1) best.sample(NOON + 1_000, at(300), at(1_700));
    expect(best.checkStart(lease, at(1_700))).toMatchObject({ verdict: 'go', errorMs: 14 });
  });

  test('combines samples: of two calls one had a fast request and the other a fast response', () => {
    const both = new ServerClock();
    both.sample(NOON + 5, at(0), at(100));
    both.sample(NOON + 195, at(100), at(200));
    expect(both.checkStart(lease, at(200))).toMatchObject({
      verdict: 'go',
      startedAtEarly: NOON + 195,
      errorMs: 13,
    });
  });

  test('uses the time at which the server last sent something as a lower limit', () => {
    const observing = clock();
    observing.observe(NOON + 140, at(145));
    expect(observing.checkStart(lease, at(145))).toMatchObject({
      verdict: 'go',
      startedAtEarly: NOON + 140,
      errorMs: 58,
    });
    observing.observe(NOON + 120, at(150));
    expect(observing.checkStart(lease, at(150))).toMatchObject({ startedAtEarly: NOON + 144 });
  });

  test('ignores an observation that contradicts the samples', () => {
    const fooled = clock();
    fooled.observe(NOON + 10_000, at(100));
    expect(fooled.checkStart(lease, at(100))).toMatchObject({
      verdict: 'go',
      startedAtEarly: NOON + 50,
      errorMs: 103,
    });
  });

  test('ignores an observation from before the process was suspended', () => {
    const woken = clock();
    woken.observe(NOON + 140, at(145));
    const asleep = (reading: ClockReading): ClockReading => ({
      ...reading,
      monotonicMs: reading.monotonicMs - 10_000,
    });
    woken.sample(NOON + 20_050, asleep(at(20_000)), asleep(at(20_100)));
    woken.observe(NOON + 20_090, asleep(at(20_100)));
    expect(woken.checkStart({ ...lease, startBy: NOON + 90_000 }, asleep(at(20_100)))).toMatchObject({
      startedAtEarly: NOON + 20_090,
    });
  });

  test('satisfies all samples if they contradict each other because a clock was set', () => {
    const torn = clock();
    torn.sample(NOON + 1_050, at(100), at(200));
    expect(torn.checkStart({ ...lease, notBefore: NOON + 151 }, at(200))).toEqual({ verdict: 'wait', ms: 2 });
    expect(torn.checkStart({ ...lease, startBy: NOON + 1_100 }, at(200)).verdict).toBe('too-late');
  });

  describe('after a request of the same process', () => {
    const previous = { at: at(100), serverMs: NOON + 60 };
    const next = { ...lease, notBefore: NOON + 1_153 };

    test('measures the gap from that request, plus a margin for the network and for clock drift', () => {
      expect(clock().checkStart(next, at(1_105), previous)).toEqual({ verdict: 'wait', ms: 1 });
      expect(clock().checkStart(next, at(1_106), previous)).toMatchObject({ verdict: 'go', measured: true });
    });

    test('is recorded a full gap after the recorded start of that request', () => {
      // By the server's clock alone it would be ten milliseconds less.
      expect(clock().checkStart(next, at(1_106), previous)).toMatchObject({
        startedAtEarly: NOON + 1_060,
        errorMs: 99,
      });
    });

    test('needs no measured gap once notBefore has passed by the server’s clock', () => {
      const slept = { ...previous, at: at(1_000) };
      expect(clock().checkStart(next, at(1_300), slept)).toMatchObject({
        verdict: 'go',
        startedAtEarly: NOON + 1_249,
        measured: false,
      });
    });

    test('ignores time asleep, which makes the gap longer', () => {
      const woken = { ...at(1_400), monotonicMs: at(1_000).monotonicMs };
      expect(clock().checkStart({ ...next, notBefore: NOON + 60_000 }, woken, previous)).toEqual({
        verdict: 'wait',
        ms: 106,
      });
    });

    test('still does not start after startBy', () => {
      expect(clock().checkStart({ ...next, startBy: NOON + 1_153 }, at(1_106), previous).verdict).toBe(
        'too-late',
      );
    });
  });

  test('is never reported as longer ago than it was', () => {
    expect(elapsedAtLeastMs(at(0), at(10_000))).toBe(9_994);
    expect(elapsedAtLeastMs(at(0), at(0))).toBe(0);
  });
});

test('the true server time always lies between the recorded start and its error', () => {
  const ms = fc.double({ min: 0, max: 250_000, noNaN: true });
  const machine = fc.record({
    wallOff: fc.integer({ min: -1e9, max: 1e9 }),
    rate: fc.double({ min: 1 - 4e-4, max: 1 + 4e-4, noNaN: true }),
  });
  const calls = fc.array(fc.tuple(ms, fc.nat(800), fc.nat(800)), { minLength: 1, maxLength: 12 });
  fc.assert(
    fc.property(machine, calls, ms, fc.nat(400), ({ wallOff, rate }, samples, later, asleepMs) => {
      const lastCall = Math.max(...samples.map(([begin, out, back]) => begin + out + back));
      const read = (t: number, asleep = 0): ClockReading => ({
        wallMs: Math.floor(NOON + t + wallOff),
        monotonicMs: (t - asleep) * rate,
      });
      const clock = new ServerClock();
      for (const [begin, out, back] of [...samples].sort(([one], [other]) => one - other)) {
        clock.sample(Math.floor(NOON + begin + out), read(begin), read(begin + out + back));
        clock.observe(Math.floor(NOON + begin), read(begin + back / 10));
      }
      const t = lastCall + asleepMs + later / 5;
      const verdict = clock.checkStart(
        { notBefore: 0, startBy: Number.MAX_SAFE_INTEGER, minGapMs: 0 },
        read(t, asleepMs),
      );
      if (verdict.verdict !== 'go') {
        expect(verdict.verdict).toBe('no-clock');
        return;
      }
      expect(verdict.startedAtEarly).toBeLessThanOrEqual(NOON + t);
      expect(verdict.startedAtEarly + verdict.errorMs).toBeGreaterThanOrEqual(NOON + t);
    }),
    { numRuns: 1_000 },
  );
});
