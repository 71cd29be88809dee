import { describe, expect, it } from 'vitest';
import { delayChange, PAUSE, RESET, RESUME } from '../../src/cli/domain-changes.ts';
import type { StoredDomain } from '../../src/core/slot-protocol.ts';
import { newThrottle, toStoredDomain } from '../../src/throttle/index.ts';
import { CONFIG } from '../throttle/support.ts';

const NEW = toStoredDomain(newThrottle('example.org', CONFIG));

describe('a change to a domain is stored once its row shows it', () => {
  it.each<[string, Partial<StoredDomain>]>([
    ['a pause', { paused: true }],
    ['a delay', { delay: { minMs: 1, maxMs: 1 } }],
    ['a backoff', { backoffMs: 1 }],
    ['a Retry-After', { blockedUntil: 1 }],
    [
      'an outage',
      { outages: { 'http://example.org': { since: 0, until: 1, failures: 1, error: '', validFrom: 1 } } },
    ],
  ])('a reset, not while there is %s', (_, leftover) => {
    expect(RESET.isStored(NEW)).toBe(true);
    expect(RESET.isStored({ ...NEW, ...leftover })).toBe(false);
  });

  it('pause, resume and delay', () => {
    const paused = { ...NEW, paused: true };
    expect([PAUSE.isStored(paused), PAUSE.isStored(NEW)]).toEqual([true, false]);
    expect([RESUME.isStored(NEW), RESUME.isStored(paused)]).toEqual([true, false]);
    const slow = { ...NEW, delay: { minMs: 5_000, maxMs: 15_000 } };
    expect([delayChange('5s-15s'), delayChange('none')].map((change) => change.isStored(slow))).toEqual([
      true,
      false,
    ]);
  });
});
