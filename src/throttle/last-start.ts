/** When the last request started, as far as it is known. Errors move it later: they lengthen the gap, never shorten it. */

import type { DelayRange } from '../core/slot-protocol.ts';
import type { LastStart, OpenLease, ThrottleState } from './state.ts';

/** Without a report, the holder of a lease may still send its request at the last moment. */
export function latestStartOf(open: OpenLease): number {
  return open.startedAt ?? open.lease.startBy;
}

/** Reports may come out of order. If a start lies within the delay after another one, both delays still apply. */
export function recordStart(state: ThrottleState, start: LastStart): void {
  if (state.lastStart === null) {
    state.lastStart = start;
    return;
  }
  const [earlier, later] =
    start.at > state.lastStart.at ? [state.lastStart, start] : [start, state.lastStart];
  const isDelayOver = later.at - earlier.at >= earlier.delayAfter.minMs;
  // Both are the latest possible times. Only a lease granted for a time after the other start certainly came second.
  const isCertainlyLater =
    later.lease !== undefined &&
    (later.lease.notBefore >= earlier.at || later.lease.id === earlier.lease?.id);
  state.lastStart = {
    at: later.at,
    delayAfter: isDelayOver ? later.delayAfter : longerOf(earlier.delayAfter, later.delayAfter),
    ...(isCertainlyLater ? { lease: later.lease } : {}),
  };
}

/**
 * Id of the lease of the last request, if its start is all that delays the next one: then the gap may be measured from it.
 * Not during a Retry-After, which ends by the throttle's clock.
 */
export function measurableFrom(
  { lastStart, leases, blockedUntil }: ThrottleState,
  now: number,
): string | undefined {
  const last = lastStart?.lease;
  if (last === undefined || (blockedUntil ?? 0) > now) return undefined;
  const others = leases.filter(({ lease }) => lease.id !== last.id);
  return others.every((open) => latestStartOf(open) <= last.notBefore) ? last.id : undefined;
}

function longerOf(one: DelayRange, other: DelayRange): DelayRange {
  return { minMs: Math.max(one.minMs, other.minMs), maxMs: Math.max(one.maxMs, other.maxMs) };
}
