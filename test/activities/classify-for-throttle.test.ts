import { describe, expect, test } from 'vitest';
import { classifyForThrottle, retryAfterOf } from '../../activities/slot/classify-for-throttle.ts';
import type { ErrorKind, FailedExchange, ResponseExchange } from '../../src/http/index.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const KEPT_UP = { wasStalled: false };

function response(status: number, headers: Record<string, string> = {}): ResponseExchange {
  const rest = { startedAt: 0, body: null, bodyBytes: 0, latencyMs: 1, durationMs: 2, cut: null };
  return { kind: 'response', status, headers, ...rest };
}

function failure(errorKind: ErrorKind, startedAt: number | null): FailedExchange {
  return { kind: 'error', errorKind, message: 'It failed.', startedAt, durationMs: 2 };
}

describe('the throttle sees', () => {
  test.each([
    [200, 'ok'],
    [204, 'ok'],
    [301, 'ok'],
    [304, 'ok'],
    [400, 'client-error'],
    [401, 'client-error'],
    [403, 'client-error'],
    [404, 'not-found'],
    [408, 'client-error'],
    [410, 'not-found'],
    [429, 'overloaded'],
    [451, 'client-error'],
    [500, 'overloaded'],
    [503, 'overloaded'],
    [599, 'overloaded'],
  ] as const)('a %i as %s', (status, responseClass) => {
    expect(classifyForThrottle(response(status), KEPT_UP)).toBe(responseClass);
  });

  test('a broken response as broken and a failed connection as unreachable', () => {
    expect(classifyForThrottle(failure('truncated', 1), KEPT_UP)).toBe('broken');
    expect(classifyForThrottle(failure('first-byte-timeout', 1), KEPT_UP)).toBe('broken');
    expect(classifyForThrottle(failure('connect-timeout', null), KEPT_UP)).toBe('unreachable');
  });

  test('an aborted request, or a timeout while this process was stalled, as unknown', () => {
    expect(classifyForThrottle(failure('aborted', 1), KEPT_UP)).toBe('unknown');
    expect(classifyForThrottle(failure('no-memory', 1), KEPT_UP)).toBe('unknown');
    expect(classifyForThrottle(failure('connect-timeout', null), { wasStalled: true })).toBe('unknown');
    expect(classifyForThrottle(failure('refused', null), { wasStalled: true })).toBe('unreachable');
  });
});

describe('Retry-After', () => {
  const asked = { 'retry-after': '120' };

  test.each([429, 500, 502, 503, 504, 599])('counts on a %i', (status) => {
    expect(retryAfterOf(response(status, asked), NOON)).toBe(120_000);
    expect(retryAfterOf(response(status), NOON)).toBeNull();
  });

  test.each([200, 301, 403, 404])('is ignored on a %i', (status) => {
    expect(retryAfterOf(response(status, asked), NOON)).toBeNull();
  });
});
