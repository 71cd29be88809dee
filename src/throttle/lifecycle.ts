/** How a throttle's life begins from, and ends in, its row of `domains`. */

import {
  emptyStats,
  type OpenedDomain,
  type PersistedBounds,
  type StoredDomain,
} from '../core/slot-protocol.ts';
import { longestOf } from './crawl-delays.ts';
import { latestStartOf, minDelayFor, recordStart } from './gap.ts';
import { forgetLearned } from './operator.ts';
import { wantedStartWindowMs } from './start-window.ts';
import type { ThrottleState } from './state.ts';

/**
 * The row has been read and is marked as not clean. A life that did not end in order may have
 * left leases behind that nobody here knows: the last of them counts as started at the last moment it allows.
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
  const said = state.changedBeforeOpening;
  state.changedBeforeOpening = [];
  const knowsBetter = state.hasReadRow;
  state.hasReadRow = true;
  if (!stored || knowsBetter) return;

  if (!said.includes('delay')) state.operatorDelay = stored.delay;
  if (!said.includes('paused')) state.paused = stored.paused;
  state.crawlDelays = longestOf({ ...stored.crawlDelays, ...state.crawlDelays });
  const { withdrawn } = state.stats;
  state.stats = { ...emptyStats(), ...stored.stats, active: state.leases.length };
  state.stats.withdrawn += withdrawn;
  if (said.includes('learned')) forgetLearned(state);
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
 * When the throttle may end if nobody comes: its gap has run out and it has been idle for long. null: not by waiting; a
 * paused domain stays, and so does one with pages in the queue or leases out.
 */
export function idleAt(state: ThrottleState): number | null {
  const { openedAt, paused, queue, leases, lastStart, blockedUntil, outages, config } = state;
  if (openedAt === null || paused || queue.waiting.length > 0 || leases.length > 0) return null;
  const gapOverAt = lastStart ? lastStart.at + minDelayFor(state, null, 1).ms : 0;
  const upAgainAt = Object.values(outages).map(({ until }) => until);
  return Math.max(openedAt, gapOverAt, blockedUntil ?? 0, ...upAgainAt) + config.idleTimeoutMs;
}

export function isIdle(state: ThrottleState, now: number): boolean {
  const at = idleAt(state);
  return at !== null && at <= now;
}

/** The end is being written: until `opened` again, asks are queued and nothing is granted. */
export function close(state: ThrottleState): void {
  state.openedAt = null;
}

/** Nothing came while the end was written: nobody in the queue, no lease out, no word of an operator. */
export function mayEnd({ queue, leases, changedBeforeOpening }: ThrottleState): boolean {
  return queue.waiting.length === 0 && leases.length === 0 && changedBeforeOpening.length === 0;
}

/** `clean` only for the last write of an orderly end: no lease is out and none will be granted. */
export function toStoredDomain(state: ThrottleState, clean: boolean): StoredDomain {
  const starts = [...(state.lastStart ? [state.lastStart.at] : []), ...state.leases.map(latestStartOf)];
  const { maxGapMs: gapMs, maxStartWindowMs: startWindowMs } = boundsToPersist(state);
  return {
    clean,
    lastStart: starts.length > 0 ? Math.max(...starts) : null,
    maxGapMs: gapMs,
    maxStartWindowMs: startWindowMs,
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

/** Twice the window wanted now: a window that grows slowly need not be written at every step. */
const HEADROOM = 2;

/** What the row has to assure for those in the queue, and for those who are out, to be served. */
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

/** Somebody is not served, or not as well as he could be, before the row is written. */
export function boundsTooNarrow(state: ThrottleState): boolean {
  const { maxGapMs: gapMs } = boundsToPersist(state);
  return (
    gapMs > state.persistedBounds.maxGapMs ||
    wantedStartWindowMs(state) > state.persistedBounds.maxStartWindowMs
  );
}

/** The row is being written: until that is done it may say either. */
export function beginPersist(
  { persistedBounds }: ThrottleState,
  { maxGapMs: lastGapMs, maxStartWindowMs: startWindowMs }: StoredDomain,
): void {
  persistedBounds.maxGapMs = Math.min(persistedBounds.maxGapMs, lastGapMs);
  persistedBounds.maxStartWindowMs = Math.min(persistedBounds.maxStartWindowMs, startWindowMs);
}

export function endPersist(
  state: ThrottleState,
  { maxGapMs: lastGapMs, maxStartWindowMs: startWindowMs }: StoredDomain,
): void {
  state.persistedBounds = { maxGapMs: lastGapMs, maxStartWindowMs: startWindowMs };
}
