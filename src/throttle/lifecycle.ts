/** An execution of a throttle begins with its row of `domains`, persists to it what it learns, and ends with it. */

import { emptyStats, type OpenedDomain, type StoredDomain } from '../core/slot-protocol.ts';
import { longestCrawlDelays, minDelayFor } from './gap.ts';
import { expiresAt } from './release.ts';
import type { ThrottleState } from './state.ts';

/** An execution that crashed may have issued versions that it had not stored. Later ones must differ from them. */
const VERSIONS_PER_EXECUTION = 1_000;

/** Leases of an earlier execution that crashed may still be used: the gate keeps their gap. */
export function open(state: ThrottleState, { stored, epoch }: OpenedDomain, now: number): void {
  if (state.openedAt !== null) return;
  state.openedAt = now;
  state.epoch = epoch;
  state.version = Math.max(state.version, epoch * VERSIONS_PER_EXECUTION);
  if (!stored) return;
  state.validFrom = stored.validFrom;
  state.version = Math.max(
    state.version,
    stored.validFrom,
    ...Object.values(stored.outages).map(({ validFrom }) => validFrom),
  );
  state.operatorDelay = stored.delay;
  state.paused = stored.paused;
  state.crawlDelays = longestCrawlDelays(stored.crawlDelays);
  state.stats = { ...emptyStats(), ...stored.stats, active: 0 };
  state.backoffMs = stored.backoffMs;
  state.blockedUntil = stored.blockedUntil;
  state.outages = Object.fromEntries(
    Object.entries(stored.outages).map(([origin, outage]) => [
      origin,
      { ...outage, grewAfter: state.stats.granted },
    ]),
  );
}

/** When the throttle may end if no page asks: nothing is reserved, and it has been idle for long. null: the domain is paused. */
export function idleAt(state: ThrottleState): number | null {
  const { openedAt, paused, leases, waiting, lastStart, blockedUntil, outages, config } = state;
  if (openedAt === null || paused) return null;
  const ends = [
    ...leases.map(expiresAt),
    ...waiting.map(({ retryAt }) => retryAt),
    ...Object.values(outages).map(({ until }) => until),
  ];
  const gapOver = lastStart ? lastStart.at + minDelayFor(state, null, 1).ms : 0;
  return Math.max(openedAt, gapOver, blockedUntil ?? 0, ...ends) + config.idleTimeoutMs;
}

export function isIdle(state: ThrottleState, now: number): boolean {
  const at = idleAt(state);
  return at !== null && at <= now;
}

export function toStoredDomain(state: ThrottleState): StoredDomain {
  return { ...rulesOf(state), stats: { ...state.stats } };
}

/** What is persisted as soon as it changes: the gate applies it, or it was learned at the site's cost. */
export function rulesOf(state: ThrottleState): Omit<StoredDomain, 'stats'> {
  return {
    validFrom: state.validFrom,
    minGapMs: minDelayFor(state, null, 0).ms,
    delay: state.operatorDelay,
    paused: state.paused,
    backoffMs: state.backoffMs,
    blockedUntil: state.blockedUntil,
    crawlDelays: { ...state.crawlDelays },
    outages: Object.fromEntries(
      Object.entries(state.outages).map(([origin, { grewAfter: _, ...outage }]) => [origin, outage]),
    ),
  };
}
