/** An open throttle, asks with defaults, and a random number that is always the same. */

import type {
  Ask,
  DelayRange,
  Lease,
  LeaseUse,
  OpenedDomain,
  ResponseClass,
  StoredDomain,
  ThrottleConfig,
} from '../../src/core/slot-protocol.ts';
import { ask, newThrottle, open, type ThrottleState } from '../../src/throttle/index.ts';

export const NOON = Date.UTC(2026, 0, 1, 12);

export const ORIGIN = 'https://example.org';

export const CONFIG: ThrottleConfig = {
  startWindowMs: 60_000,
  maxReserved: 16,
  horizonMs: 60_000,
  maxWaiting: 1_000,
  pauseRetryMs: 600_000,
  maxBackoffMs: 600_000,
  maxRetryAfterMs: 3_600_000,
  maxCrawlDelayMs: 120_000,
  outageRetryMs: 600_000,
  maxOutageRetryMs: 3_600_000,
  outageGiveUpMs: 86_400_000,
  idleTimeoutMs: 600_000,
};

export const middle = () => 0.5;

export function fixed(ms: number): DelayRange {
  return { minMs: ms, maxMs: ms };
}

export function reading(stored: StoredDomain | null): OpenedDomain {
  return { stored, epoch: 1 };
}

export function openThrottle(config: Partial<ThrottleConfig> = {}): ThrottleState {
  const state = newThrottle('example.org', { ...CONFIG, ...config });
  open(state, reading(null), NOON);
  return state;
}

export function anAsk(ticket: string, overrides: Partial<Ask> = {}): Ask {
  return {
    ticket,
    workflowId: `page-${ticket}`,
    crawlId: 'crawl',
    origin: ORIGIN,
    atFront: false,
    delay: fixed(10_000),
    concurrency: 1,
    targetConcurrency: null,
    maxFetchMs: 60_000,
    ...overrides,
  };
}

/** The report of a request that started just now. */
export function startedNow(
  responseClass: ResponseClass = 'ok',
  more: Partial<Extract<LeaseUse, { kind: 'started' }>> = {},
): Extract<LeaseUse, { kind: 'started' }> {
  return { kind: 'started', agoMs: 0, durationMs: 0, responseClass, ...more };
}

/** Asks, and returns the lease. Throws if it is not granted at once. */
export function granted(state: ThrottleState, asked: Ask, now: number): Lease {
  const answer = ask(state, asked, now, middle);
  if (answer.kind !== 'granted') throw new Error(`${asked.ticket} should be granted, but is ${answer.kind}`);
  return answer.lease;
}
