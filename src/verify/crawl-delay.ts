/**
 * Whether requests were as far apart as the robots.txt that they were judged by asks for, whatever gap the throttle wrote
 * down. Judged is only what cannot have been otherwise:
 * - two requests in a row to one origin, by the same rules under the same name;
 * - of which one tolerated no company, so that the later was granted after the earlier had ended, and by then the throttle
 *   knew what those rules say;
 * - while robots.txt was not asked for again: the throttle heeds a shorter delay before the rules that state it are kept.
 */
import { originOf } from '../urls/index.ts';
import type { ParsedRules } from './rules.ts';
import type { Gap, RecordedRequest } from './types.ts';

export class CrawlDelays {
  /** When robots.txt was last asked for, by origin. */
  private readonly askedFor = new Map<string, number>();

  /** To be told of every request, in their order. */
  observe({ isRobots, url, startedAtMs }: RecordedRequest): void {
    if (isRobots) this.askedFor.set(originOf(url), startedAtMs);
  }

  /** What the gap should have been at least; null: that cannot be told. `rules` are those of the later request. */
  requiredGapMs({ before, after }: Gap, rules: ParsedRules | null, company: number): number | null {
    if (before.isRobots || after.isRobots || rules?.crawlDelayMs == null || company > 1) return null;
    const isAlike =
      originOf(before.url) === originOf(after.url) &&
      before.allowedBy?.rulesId === after.allowedBy?.rulesId &&
      before.allowedBy?.agent === after.allowedBy?.agent;
    const isLatest = (this.askedFor.get(rules.origin) ?? 0) <= rules.storedAtMs;
    return isAlike && isLatest ? rules.crawlDelayMs : null;
  }
}
