import { describe, expect, test } from 'vitest';
import { patienceOf, receptionOf } from '../../activities/slot/classify-for-throttle.ts';
import type { ErrorKind, FailedExchange, ResponseExchange } from '../../src/http/index.ts';

const NOON = Date.UTC(2026, 0, 1, 12);
const KEPT_UP = { stoodStill: false };

function response(status: number, headers: Record<string, string> = {}): ResponseExchange {
  const rest = { startedAt: 0, body: null, bodyBytes: 0, latencyMs: 1, tookMs: 2, cut: null };
  return { kind: 'response', status, headers, ...rest };
}

function failure(errorKind: ErrorKind, startedAt: number | null): FailedExchange {
  return { kind: 'error', errorKind, message: 'It failed.', startedAt, tookMs: 2 };
}

describe('a throttle is told', () => {
  test.each([
    [200, 'ok'],
    [204, 'ok'],
    [301, 'ok'],
    [304, 'ok'],
    [400, 'turned-away'],
    [401, 'turned-away'],
    [403, 'turned-away'],
    [404, 'denied'],
    [408, 'turned-away'],
    [410, 'denied'],
    [429, 'overloaded'],
    [451, 'turned-away'],
    [500, 'overloaded'],
    [503, 'overloaded'],
    [599, 'overloaded'],
  ] as const)('of a %i as "%s"', (status, reception) => {
    expect(receptionOf(response(status), KEPT_UP)).toBe(reception);
  });

  test('of an answer that broke as broken, of a connection that never was as unreachable', () => {
    expect(receptionOf(failure('truncated', 1), KEPT_UP)).toBe('broken');
    expect(receptionOf(failure('first-byte-timeout', 1), KEPT_UP)).toBe('broken');
    expect(receptionOf(failure('connect-timeout', null), KEPT_UP)).toBe('unreachable');
  });

  test('nothing by what was called off, or timed out while this process stood still', () => {
    expect(receptionOf(failure('aborted', 1), KEPT_UP)).toBe('unknown');
    expect(receptionOf(failure('connect-timeout', null), { stoodStill: true })).toBe('unknown');
    expect(receptionOf(failure('refused', null), { stoodStill: true })).toBe('unreachable');
  });
});

describe('Retry-After', () => {
  const asked = { 'retry-after': '120' };

  test.each([429, 500, 502, 503, 504, 599])('counts on a %i', (status) => {
    expect(patienceOf(response(status, asked), NOON)).toBe(120_000);
    expect(patienceOf(response(status), NOON)).toBeNull();
  });

  test.each([200, 301, 403, 404])('says nothing on a %i', (status) => {
    expect(patienceOf(response(status, asked), NOON)).toBeNull();
  });
});
