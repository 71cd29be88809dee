import { expect, test } from 'vitest';
import { retryDelayMs } from '../../src/core/retry-policy.ts';
import type { RetrySettings } from '../../src/core/settings.ts';

const HOUR_MS = 3_600_000;
const never = () => 0;

const hourly: RetrySettings = {
  initialIntervalMs: HOUR_MS,
  backoffCoefficient: 1,
  maximumAttempts: 3,
  maximumIntervalMs: 24 * HOUR_MS,
  jitterMs: 0,
};

const waits = (retry: RetrySettings, attempts: number, random = never) =>
  Array.from({ length: attempts }, (_, n) => retryDelayMs(retry, n + 1, random));

test('three attempts are an hour apart, and none follows the last', () => {
  expect(waits(hourly, 4)).toEqual([HOUR_MS, HOUR_MS, null, null]);
});

test('one attempt means no retry', () => {
  expect(retryDelayMs({ ...hourly, maximumAttempts: 1 }, 1, never)).toBeNull();
});

test('with a coefficient each wait is longer, up to the maximum interval', () => {
  const growing = { ...hourly, backoffCoefficient: 2, maximumAttempts: 7, maximumIntervalMs: 10 * HOUR_MS };
  const inHours = waits(growing, 7).map((ms) => ms && ms / HOUR_MS);
  expect(inHours).toEqual([1, 2, 4, 8, 10, 10, null]);
});

test('jitter is added even to the maximum interval, in whole milliseconds', () => {
  const jittered = { ...hourly, jitterMs: 1_001, maximumIntervalMs: HOUR_MS };
  expect(retryDelayMs(jittered, 1, () => 0)).toBe(HOUR_MS);
  expect(retryDelayMs(jittered, 1, () => 0.5)).toBe(HOUR_MS + 501);
});
