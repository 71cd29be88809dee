/** An execution of a throttle begins with its row of `domains`, persists to it what it learns, and ends with it. */

import {
  emptyStats,
  type OpenedDomain,
  type PersistedBounds,
  type StoredDomain,
} from '../core/slot-protocol.ts';
import { latestStartOf, longestCrawlDelays, minDelayFor, recordStart } from './gap.ts';
import { forgetLearned } from './operator.ts';
import { wantedStartWindowMs } from './start-window.ts';
import type { ThrottleState } from './state.ts';

/**
 * The row has been read and marked as not clean. If the previous execution crashed, leases may still be held that this one
 * does not know. The last of them counts as started at the last moment that it allows.
 */
export function open(
  state: ThrottleState,
  { stored, persistedBounds, epoch }: OpenedDomain,
  now: number,
): void {
  if (state.openedAt !== null) return;
  state.openedAt = now;
  state.epoch = epoch;
  state.persistedBounds = persistedBounds;
  const changed = state.changedBeforeOpening;
  state.changedBeforeOpening = [];
  const isReopening = state.hasReadRow;
  state.hasReadRow = true;
  if (!stored || isReopening) return;

  if (!changed.includes('delay')) state.operatorDelay = stored.delay;
  if (!changed.includes('paused')) state.paused = stored.paused;
  state.crawlDelays = longestCrawlDelays({ ...stored.crawlDelays, ...state.crawlDelays });
  const { withdrawn } = state.stats;
  state.stats = { ...emptyStats(), ...stored.stats, active: state.leases.length };
  state.stats.withdrawn += withdrawn;
  if (changed.includes('learned')) forgetLearned(state);
  else {
    state.backoffMs = stored.backoffMs;
    state.blockedUntil = stored.blockedUntil;
    state.outages = Object.fromEntries(
      Object.entries(stored.outages).map(([origin, outage]) => [origin, { ...outage, grewAfter: 0 }]),
    );
  }

  const delayAfter = { minMs: stored.maxGapMs, maxMs: stored.maxGapMs };
  if (stored.lastStart !== null) recordStart(state, { at: stored.lastStart, delayAfter });
  if (!stored.clean) {
    recordStart(state, { at: now + state.config.grantLeadMs + stored.maxStartWindowMs, delayAfter });
  }
}

/**
 * When the throttle may end if no page asks: its gap has passed, and it has been idle for long. null: it may not end; the
 * domain is paused, pages are queued, or leases are held.
 */
export function idleAt(state: ThrottleState): number | null {
  const { openedAt, paused, queue, leases, lastStart, blockedUntil, outages, config } = state;
  if (openedAt === null || paused || queue.waiting.length > 0 || leases.length > 0) return null;
  const gapOverAt = lastStart ? lastStart.at + minDelayFor(state, null, 1).ms : 0;
  const probesAt = Object.values(outages).map(({ until }) => until);
  return Math.max(openedAt, gapOverAt, blockedUntil ?? 0, ...probesAt) + config.idleTimeoutMs;
}

export function isIdle(state: ThrottleState, now: number): boolean {
  const at = idleAt(state);
  return at !== null && at <= now;
}

/** The final row is being written. Until `open` is called again, asks are queued and nothing is granted. */
export function close(state: ThrottleState): void {
  state.openedAt = null;
}

/** Nothing arrived while the final row was written: no ask, and no change by an operator. */
export function mayEnd({ queue, leases, changedBeforeOpening }: ThrottleState): boolean {
  return queue.waiting.length === 0 && leases.length === 0 && changedBeforeOpening.length === 0;
}

/** `clean` is for the last write of an execution that ends in order: no lease is held and none will be granted. */
export function toStoredDomain(state: ThrottleState, clean: boolean): StoredDomain {
  const starts = [...(state.lastStart ? [state.lastStart.at] : []), ...state.leases.map(latestStartOf)];
  return {
    clean,
    lastStart: starts.length > 0 ? Math.max(...starts) : null,
    ...boundsToPersist(state),
    delay: state.operatorDelay,
    paused: state.paused,
    backoffMs: state.backoffMs,
    blockedUntil: state.blockedUntil,
    crawlDelays: { ...state.crawlDelays },
    outages: Object.fromEntries(
      Object.entries(state.outages).map(([origin, { grewAfter: _, ...outage }]) => [origin, outage]),
    ),
    stats: { ...state.stats },
  };
}

/** Twice the window needed now, so that a window that grows slowly is not written at every step. */
const HEADROOM = 2;

/** Bounds wide enough for all tickets in the queue and all leases that are held. */
export function boundsToPersist(state: ThrottleState): PersistedBounds {
  const { config, lastStart, leases, queue } = state;
  const delays = [
    ...(lastStart ? [lastStart.delayAfter] : []),
    ...leases.map(({ delayAfter }) => delayAfter),
    ...queue.waiting.map(({ delay }) => delay),
  ];
  const granted = leases.map(({ lease }) => lease.startBy - lease.notBefore);
  const wanted = wantedStartWindowMs(state);
  return {
    maxStartWindowMs: Math.max(
      Math.min(HEADROOM * wanted, Math.max(config.maxStartWindowMs, wanted)),
      ...granted,
    ),
    maxGapMs: Math.max(0, ...delays.map(({ maxMs }) => maxMs)),
  };
}

/** The persisted bounds prevent a grant, or make its start window shorter than it should be. */
export function boundsTooNarrow(state: ThrottleState): boolean {
  const { persistedBounds } = state;
  return (
    boundsToPersist(state).maxGapMs > persistedBounds.maxGapMs ||
    wantedStartWindowMs(state) > persistedBounds.maxStartWindowMs
  );
}

/** While a write is in flight, the row may have the old bounds or the new ones: only the narrower ones are safe. */
export function beginPersist(
  { persistedBounds }: ThrottleState,
  { maxGapMs, maxStartWindowMs }: PersistedBounds,
): void {
  persistedBounds.maxGapMs = Math.min(persistedBounds.maxGapMs, maxGapMs);
  persistedBounds.maxStartWindowMs = Math.min(persistedBounds.maxStartWindowMs, maxStartWindowMs);
}

export function endPersist(state: ThrottleState, { maxGapMs, maxStartWindowMs }: PersistedBounds): void {
  state.persistedBounds = { maxGapMs, maxStartWindowMs };
}
