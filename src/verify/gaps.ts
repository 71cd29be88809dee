/** The gaps between the requests to one domain. Requests come ordered by start, so only the previous one has to be kept. */
import type { Gap, RecordedRequest } from './types.ts';

/**
 * Recorded starts are early readings of one clock, and the throttle counts from a later one, so a granted gap is never longer than
 * the recorded one. That later reading is the latest start that the worker considered possible, or the latest that follows from
 * how long ago the report says it was, whichever is earlier. Only the former is on record. Therefore a gap that is too short only
 * if the clocks' whole error is subtracted is not a violation. If one process sent both requests, its own measurement proves the
 * gap.
 */
export function gapBetween(before: RecordedRequest, after: RecordedRequest): Gap {
  const gapMs = after.startedAtMs - before.startedAtMs;
  const requiredMs = after.minGapMs;
  const spare = Math.max(0, gapMs - requiredMs);
  const isMeasured = after.measuredFrom === before.leaseId;
  const clockErrorMs = isMeasured ? Math.min(spare, before.startedErrorMs) : before.startedErrorMs;
  return { before, after, gapMs, clockErrorMs, requiredMs };
}

export function isTooShort({ gapMs, requiredMs }: Gap): boolean {
  return gapMs < requiredMs;
}

export function isWithinClockError(gap: Gap): boolean {
  return !isTooShort(gap) && gap.gapMs - gap.clockErrorMs < gap.requiredMs;
}

/** Which of two gaps came closer to a violation. */
export function tighterOf(one: Gap | null, other: Gap): Gap {
  return one === null || spareMs(other) < spareMs(one) ? other : one;
}

/** How much longer a gap was than required. Negative: too short by that much. */
export function spareMs({ gapMs, requiredMs }: Gap): number {
  return gapMs - requiredMs;
}
