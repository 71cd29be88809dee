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
import { ask, newThrottle, open, type ThrottleState, tick } from '../../src/throttle/index.ts';

export const NOON = Date.UTC(2026, 0, 1, 12);

export const ORIGIN = 'https://example.org';

export const CONFIG: ThrottleConfig = {
  grantLeadMs: 300,
  startWindowMs: 15_000,
  maxStartWindowMs: 300_000,
  parallelStartWindowMs: 2_000,
  queueLimit: 1_000,
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

/** The row as read, with bounds wide enough for every test. */
export function reading(stored: StoredDomain | null): OpenedDomain {
  return {
    stored,
    persistedBounds: { maxStartWindowMs: CONFIG.maxStartWindowMs, maxGapMs: 3_600_000 },
    epoch: 1,
  };
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
    priority: 5,
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
  return { kind: 'started', agoMs: 0, latestAt: null, durationMs: 0, responseClass, ...more };
}

/** Asks, and returns the lease. Throws if it is not granted at once. */
export function granted(state: ThrottleState, asked: Ask, now: number): Lease {
  const answer = ask(state, asked, now, middle);
  if (answer.kind !== 'granted') throw new Error(`${asked.ticket} should be granted, but is ${answer.kind}`);
  return answer.lease;
}

/** The leases that a tick grants. */
export function ticked(state: ThrottleState, now: number): Lease[] {
  return tick(state, now, middle).grants.map(({ lease }) => lease);
}

/** The only lease that a tick grants. Throws if it grants none or several. */
export function tickedOne(state: ThrottleState, now: number): Lease {
  const [lease, ...more] = ticked(state, now);
  if (!lease || more.length > 0) throw new Error('the tick should grant exactly one lease');
  return lease;
}
