/** The gaps of one domain, from its requests in the order of their starts: only the last one has to be remembered. */
import type { Gap, RecordedRequest } from './types.ts';

/**
 * Both starts are early readings of one clock, and the throttle counted from a later one: what was granted is never longer
 * than what was recorded. That later one is the latest that the worker thought possible, or the latest by how long ago the
 * report says it was, whichever is earlier; only the former is on record. So a gap that is not proven to the last
 * millisecond of the clocks' error is no fault. One that was measured by the process that sent both is proven by that.
 */
export function gapBetween(before: RecordedRequest, after: RecordedRequest): Gap {
  const gapMs = after.startedAtMs - before.startedAtMs;
  const requiredMs = after.minGapMs;
  const spare = Math.max(0, gapMs - requiredMs);
  const isMeasured = after.measuredFrom === before.leaseId;
  const clockErrorMs = isMeasured ? Math.min(spare, before.startedErrorMs) : before.startedErrorMs;
  return { before, after, gapMs, clockErrorMs, requiredMs: requiredMs };
}

export function isTooShort({ gapMs, requiredMs }: Gap): boolean {
  return gapMs < requiredMs;
}

export function isWithinClockError(gap: Gap): boolean {
  return !isTooShort(gap) && gap.gapMs - gap.clockErrorMs < gap.requiredMs;
}

/** Which of two gaps came closer to a fault. */
export function tighterOf(one: Gap | null, other: Gap): Gap {
  return one === null || spareMs(other) < spareMs(one) ? other : one;
}

/** What a gap had over what was in force; negative: that much too short. */
export function spareMs({ gapMs, requiredMs }: Gap): number {
  return gapMs - requiredMs;
}
