/** The gaps between the requests to one domain. Requests come ordered by start, so only the previous one has to be kept. */
import { originOf } from '../urls/index.ts';
import type { ParsedRules } from './rules.ts';
import type { Gap, RecordedRequest } from './types.ts';

/**
 * Recorded starts are early readings of one clock, and the gate counts from a later one, so a gap is never shorter than the recorded
 * one. That later reading is not on record. Therefore a gap that is too short only if the clocks' whole error is subtracted is
 * not a violation.
 */
export function gapBetween(before: RecordedRequest, after: RecordedRequest): Gap {
  const gapMs = after.startedAtMs - before.startedAtMs;
  return { before, after, gapMs, clockErrorMs: before.startedErrorMs, requiredMs: after.minGapMs };
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

/**
 * The gap that robots.txt requires between two requests, whatever gap the throttle recorded. Judged are only gaps for which there
 * can be no excuse:
 * - two consecutive requests to one origin, allowed by the same rules for the same agent;
 * - at least one of them allowed no concurrent request, so the later one was granted after the earlier one had ended, and by then
 *   the throttle knew these rules;
 * - robots.txt was not requested again in between, because the throttle applies a shorter delay before the new rules are stored.
 */
export class CrawlDelays {
  /** When robots.txt was last requested, by origin. */
  private readonly requestedAt = new Map<string, number>();

  /** To be called for every request, in order. */
  observe({ isRobots, url, startedAtMs }: RecordedRequest): void {
    if (isRobots) this.requestedAt.set(originOf(url), startedAtMs);
  }

  /** What the gap must be at least. null: nothing certain can be said. `rules` are those of the later request. */
  requiredGapMs({ before, after }: Gap, rules: ParsedRules | null, concurrency: number): number | null {
    if (before.isRobots || after.isRobots || rules?.crawlDelayMs == null || concurrency > 1) return null;
    const haveSameRules =
      originOf(before.url) === originOf(after.url) &&
      before.allowedBy?.rulesId === after.allowedBy?.rulesId &&
      before.allowedBy?.agent === after.allowedBy?.agent;
    const areLatest = (this.requestedAt.get(rules.origin) ?? 0) <= rules.storedAtMs;
    return haveSameRules && areLatest ? rules.crawlDelayMs : null;
  }
}
