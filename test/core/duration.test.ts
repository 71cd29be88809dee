import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { formatBytes, parseBytes } from '../../src/core/bytes.ts';
import {
  formatDelayRange,
  MAX_DURATION_MS,
  parseDelayRange,
  parseDuration,
  serializeDuration,
} from '../../src/core/duration.ts';

describe('a duration', () => {
  test.each([
    ['250ms', 250],
    ['10s', 10_000],
    ['1.5h', 5_400_000],
    ['5m', 300_000],
    ['2 min', 120_000],
    ['1D', 86_400_000],
    ['0', 0],
    [1_500, 1_500],
  ])('%j is %d ms', (written, ms) => {
    expect(parseDuration(written)).toBe(ms);
  });

  test.each([
    '',
    'soon',
    '1500',
    '-1s',
    '10 parsecs',
    '1h30m',
    Number.NaN,
    -1,
    Number.POSITIVE_INFINITY,
    null,
    {},
    '25d',
  ])('%j is refused', (written) => {
    expect(parseDuration(written)).toBeUndefined();
  });

  test('is parsed back exactly as it was written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 0, max: MAX_DURATION_MS }), (ms) => {
        expect(parseDuration(serializeDuration(ms))).toBe(ms);
      }),
    );
  });
});

describe('a delay', () => {
  test('is one duration or a range of two', () => {
    expect(parseDelayRange('10s')).toEqual({ minMs: 10_000, maxMs: 10_000 });
    expect(parseDelayRange('5s-15s')).toEqual({ minMs: 5_000, maxMs: 15_000 });
    expect(parseDelayRange(200)).toEqual({ minMs: 200, maxMs: 200 });
  });

  test.each(['15s-5s', '5s-', '-5s', '1s-2s-3s', 'soon-later'])('%j is refused', (written) => {
    expect(parseDelayRange(written)).toBeUndefined();
  });

  test('is written as a range only if its ends differ', () => {
    expect(formatDelayRange({ minMs: 5_000, maxMs: 15_000 })).toBe('5s-15s');
    expect(formatDelayRange({ minMs: 200, maxMs: 200 })).toBe('200ms');
  });
});

describe('a size', () => {
  test.each([
    ['10MiB', 10_485_760],
    ['500kB', 500_000],
    ['1.5 KiB', 1_536],
    [42, 42],
  ])('%j is %d bytes', (written, bytes) => {
    expect(parseBytes(written)).toBe(bytes);
  });

  test.each(['', '10 apples', '0', -1, '3GiB', '0.5B', null])('%j is refused', (written) => {
    expect(parseBytes(written)).toBeUndefined();
  });

  test('is parsed back exactly as it was written', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 2 ** 31 - 1 }), (bytes) => {
        expect(parseBytes(formatBytes(bytes))).toBe(bytes);
      }),
    );
  });
});
