import { describe, expect, it } from 'vitest';
import { delayOrder, PAUSE, RESET, RESUME } from '../../src/cli/domain-orders.ts';
import type { StoredDomain } from '../../src/core/slot-protocol.ts';
import { newThrottle, toStoredDomain } from '../../src/throttle/index.ts';
import { CONFIG } from '../throttle/support.ts';

const AS_NEW = toStoredDomain(newThrottle('example.org', CONFIG), true);

describe('an order to a domain counts as written down when its row says so', () => {
  it.each<[string, Partial<StoredDomain>]>([
    ['a pause', { paused: true }],
    ['a delay', { delay: { minMs: 1, maxMs: 1 } }],
    ['a backoff', { backoffMs: 1 }],
    ['a Retry-After', { blockedUntil: 1 }],
    ['an outage', { outages: { 'http://example.org': { since: 0, until: 1, failures: 1, error: '' } } }],
  ])('a reset not while it has %s', (_, trouble) => {
    expect(RESET.isWritten(AS_NEW)).toBe(true);
    expect(RESET.isWritten({ ...AS_NEW, ...trouble })).toBe(false);
  });

  it('pause, resume and delay', () => {
    const paused = { ...AS_NEW, paused: true };
    expect([PAUSE.isWritten(paused), PAUSE.isWritten(AS_NEW)]).toEqual([true, false]);
    expect([RESUME.isWritten(AS_NEW), RESUME.isWritten(paused)]).toEqual([true, false]);
    const slow = { ...AS_NEW, delay: { minMs: 5_000, maxMs: 15_000 } };
    expect([delayOrder('5s-15s'), delayOrder('none')].map((order) => order.isWritten(slow))).toEqual([
      true,
      false,
    ]);
  });
});
