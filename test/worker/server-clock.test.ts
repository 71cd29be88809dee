import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { type ClockReading, elapsedAtLeastMs, ServerClock } from '../../src/worker/server-clock.ts';
import { NOON } from '../throttle/support.ts';

/** A machine whose wall clock is an hour behind the server and whose monotonic clock began 1 s ago at noon. */
const at = (ms: number): ClockReading => ({ wallMs: NOON - 3_600_000 + ms, monotonicMs: 1_000 + ms });
const lease = { notBefore: NOON, startBy: NOON + 15_000, minGapMs: 1_000 };

/** Learned in a call from noon to 100 ms later. */
function clock(): ServerClock {
  const clock = new ServerClock();
  clock.sample(NOON + 50, at(0), at(100));
  return clock;
}

describe('a worker', () => {
  test('goes ahead within the lease, and records the earliest moment that it may be', () => {
    expect(clock().checkStart(lease, at(100))).toMatchObject({
      verdict: 'go',
      startedAtEarly: NOON + 50,
      errorMs: 103,
    });
  });

  test('judges notBefore by the early end of what it knows', () => {
    expect(clock().checkStart({ ...lease, notBefore: NOON + 1_000 }, at(100))).toEqual({
      verdict: 'wait',
      ms: 950,
    });
  });

  test('judges startBy by the late end of what it knows', () => {
    const best = clock();
    expect(best.checkStart({ ...lease, startBy: NOON + 152 }, at(100)).verdict).toBe('too-late');
    expect(best.checkStart({ ...lease, startBy: NOON + 153 }, at(100)).verdict).toBe('go');
  });

  test('without a sample has no clock', () => {
    expect(new ServerClock().checkStart(lease, at(0))).toEqual({ verdict: 'no-clock', why: 'never sampled' });
  });

  test('trusts no sample older than 5 minutes', () => {
    const longLease = { ...lease, startBy: NOON + 3_600_000 };
    expect(clock().checkStart(longLease, at(300_000)).verdict).toBe('go');
    expect(clock().checkStart(longLease, at(300_001))).toEqual({
      verdict: 'no-clock',
      why: 'sample too old',
    });
  });

  test('trusts no sample since which its clocks went more than half a second apart', () => {
    const woken = { ...at(4_000), monotonicMs: at(3_499).monotonicMs };
    expect(clock().checkStart(lease, woken)).toEqual({ verdict: 'no-clock', why: 'suspended since' });
  });

  test('counts a sleep too short to be noticed against itself', () => {
    const woken = { ...at(1_000), monotonicMs: at(600).monotonicMs };
    expect(clock().checkStart({ ...lease, startBy: NOON + 1_050 }, woken).verdict).toBe('too-late');
  });

  test('uses the most precise of its recent samples', () => {
    const best = clock();
    best.sample(NOON + 210, at(205), at(215));
    for (let n = 0; n < 20; n += 1) best.sample(NOON + 1_000, at(300), at(1_700));
    expect(best.checkStart(lease, at(1_700))).toMatchObject({ verdict: 'go', errorMs: 14 });
  });

  test('knows more from two samples than from either: one was quick on its way there, the other on its way back', () => {
    const both = new ServerClock();
    both.sample(NOON + 5, at(0), at(100));
    both.sample(NOON + 195, at(100), at(200));
    expect(both.checkStart(lease, at(200))).toMatchObject({
      verdict: 'go',
      startedAtEarly: NOON + 195,
      errorMs: 13,
    });
  });

  test('knows that it is later by now than when the server last sent something', () => {
    const hearing = clock();
    hearing.observe(NOON + 140, at(145));
    expect(hearing.checkStart(lease, at(145))).toMatchObject({
      verdict: 'go',
      startedAtEarly: NOON + 140,
      errorMs: 58,
    });
    hearing.observe(NOON + 120, at(150));
    expect(hearing.checkStart(lease, at(150))).toMatchObject({ startedAtEarly: NOON + 144 });
  });

  test('does not believe to have heard from the future', () => {
    const fooled = clock();
    fooled.observe(NOON + 10_000, at(100));
    expect(fooled.checkStart(lease, at(100))).toMatchObject({
      verdict: 'go',
      startedAtEarly: NOON + 50,
      errorMs: 103,
    });
  });

  test('forgets what it heard before it was suspended', () => {
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

  test('believes all of its samples where they contradict each other: somebody has set a clock', () => {
    const torn = clock();
    torn.sample(NOON + 1_050, at(100), at(200));
    expect(torn.checkStart({ ...lease, notBefore: NOON + 151 }, at(200))).toEqual({ verdict: 'wait', ms: 2 });
    expect(torn.checkStart({ ...lease, startBy: NOON + 1_100 }, at(200)).verdict).toBe('too-late');
  });

  describe('that sent the request before itself', () => {
    const before = { at: at(100), serverMs: NOON + 60 };
    const next = { ...lease, notBefore: NOON + 1_153 };

    test('measures the gap from it, and a little for the way, less than which has not passed however fast its own clock runs', () => {
      expect(clock().checkStart(next, at(1_105), before)).toEqual({ verdict: 'wait', ms: 1 });
      expect(clock().checkStart(next, at(1_106), before)).toMatchObject({ verdict: 'go', measured: true });
    });

    test('records a start that is as far from the recorded one before', () => {
      // What is known of the server's clock by now would make it ten milliseconds less.
      expect(clock().checkStart(next, at(1_106), before)).toMatchObject({
        startedAtEarly: NOON + 1_060,
        errorMs: 99,
      });
    });

    test('needs no measure where the time has come by the server’s clock', () => {
      const slept = { ...before, at: at(1_000) };
      expect(clock().checkStart(next, at(1_300), slept)).toMatchObject({
        verdict: 'go',
        startedAtEarly: NOON + 1_249,
        measured: false,
      });
    });

    test('takes no account of a sleep: it makes the gap longer', () => {
      const woken = { ...at(1_400), monotonicMs: at(1_000).monotonicMs };
      expect(clock().checkStart({ ...next, notBefore: NOON + 60_000 }, woken, before)).toEqual({
        verdict: 'wait',
        ms: 106,
      });
    });

    test('does not start after the lease for all that', () => {
      expect(clock().checkStart({ ...next, startBy: NOON + 1_153 }, at(1_106), before).verdict).toBe(
        'too-late',
      );
    });
  });

  test('says how long ago it wrote, never more than it was', () => {
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
