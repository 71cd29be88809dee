/** Where a crawl is heading, from the samples of how it grew. */
import type { CrawlSample } from '../storage/reports/counts.ts';

export interface Projection {
  /** Pages found and done per second, lately. */
  foundRate: number;
  doneRate: number;
  /** When found and done meet if both rates stay as they are, or later if politeness asks for it. null: they do not. */
  endsInMs: number | null;
  /** The frontier grows faster than it is worked off. */
  isGrowing: boolean;
}

/** The recent part of a crawl, as a share of its age: older samples say little about what it does now. */
const RECENT = 0.2;

/** Rates of a shorter time are noise. */
const MIN_RECENT_MS = 60_000;

/** A crawl begins with a burst of links: until it is this old, nothing can be said. */
const MIN_AGE_MS = 2 * MIN_RECENT_MS;

/**
 * `samples` in order of time, the present at the end. `atLeastMs`: what politeness allows, which is longer than lately if a fast
 * domain has just been done. null: the crawl is too young.
 */
export function project(samples: readonly CrawlSample[], atLeastMs = 0): Projection | null {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined) return null;
  const ageMs = last.at.getTime() - first.at.getTime();
  if (ageMs < MIN_AGE_MS) return null;
  const since = recentSince(first.at, last.at);
  const from = samples.findLast(({ at }) => at <= since) ?? first;
  const seconds = (last.at.getTime() - from.at.getTime()) / 1_000;
  const foundRate = (last.found - from.found) / seconds;
  const doneRate = (last.done - from.done) / seconds;
  const open = last.found - last.done;
  const closing = doneRate - foundRate;
  return {
    foundRate,
    doneRate,
    endsInMs: open === 0 ? 0 : closing > 0 ? Math.max((open / closing) * 1_000, atLeastMs) : null,
    isGrowing: open > 0 && foundRate > doneRate,
  };
}

/** From when on a crawl is looked at. The last sample until then is the only one that `project` needs besides both ends. */
export function recentSince(createdAt: Date, now: Date): Date {
  const ageMs = now.getTime() - createdAt.getTime();
  return new Date(now.getTime() - Math.max(ageMs * RECENT, MIN_RECENT_MS));
}

/**
 * Until a running crawl is done. While it is too young for a projection: until the pages that are known are done. null: not known,
 * or it does not converge.
 */
export function timeLeftMs(
  projection: Projection | null,
  { open, pagesPerSecond, atLeastMs }: { open: number; pagesPerSecond: number; atLeastMs: number },
): number | null {
  if (projection !== null) return projection.endsInMs;
  const latelyMs = pagesPerSecond === 0 ? 0 : (1_000 * open) / pagesPerSecond;
  return Math.max(atLeastMs, latelyMs) || null;
}

/** At most `count` of the samples, evenly spread over time, the first and the last among them. */
export function thinOut(samples: readonly CrawlSample[], count: number): CrawlSample[] {
  const [first, last] = [samples[0], samples.at(-1)];
  if (first === undefined || last === undefined || samples.length <= count) return [...samples];
  const step = (last.at.getTime() - first.at.getTime()) / (count - 1);
  const kept: CrawlSample[] = [];
  for (const sample of samples) {
    const due = first.at.getTime() + kept.length * step;
    if (sample.at.getTime() >= due && kept.length < count - 1) kept.push(sample);
  }
  return [...kept, last];
}
