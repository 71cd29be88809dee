/** When a polite crawl can end: pages that are left, times the gap between them, on each of its domains. */
import type { DomainRemaining } from '../storage/reports/remaining.ts';

export interface RemainingTime extends DomainRemaining {
  /** If it is worked on without interruption. null: it is paused. */
  remainingMs: number | null;
}

export interface PoliteEnd {
  /** Those that take longest first; paused ones at the end. */
  domains: RemainingTime[];
  /** The earliest time from now until all pages that are known can be done. null: every domain is paused. */
  remainingMs: number | null;
  /** What half the delay on the slowest domain would save. null: the delay is not what makes it slow. */
  saving: Saving | null;
}

export interface Saving {
  domain: string;
  fromMs: number;
  toMs: number;
  savedMs: number;
  /** The domain that would take longest then. */
  next: string;
}

export function politeEnd(remaining: readonly DomainRemaining[], now: Date): PoliteEnd {
  const domains = remaining
    .map((domain) => ({ ...domain, remainingMs: remainingMsOf(domain, now) }))
    .sort(
      (one, other) =>
        (other.remainingMs ?? -1) - (one.remainingMs ?? -1) || one.domain.localeCompare(other.domain),
    );
  return { domains, remainingMs: domains[0]?.remainingMs ?? null, saving: savingOf(domains, now) };
}

function remainingMsOf({ open, gapMs, paused, blockedUntil }: DomainRemaining, now: Date): number | null {
  if (paused) return null;
  return Math.max(0, (blockedUntil?.getTime() ?? 0) - now.getTime()) + open * gapMs;
}

/** Less would not be worth a change. */
const MIN_SAVING_MS = 60_000;

/** A Crawl-delay, a backoff or an operator's delay is not shortened by the crawl's own. */
function savingOf([slowest, second]: readonly RemainingTime[], now: Date): Saving | null {
  if (slowest === undefined || slowest.remainingMs === null) return null;
  const toMs = Math.max(slowest.gapMs / 2, slowest.minGapMs);
  const shorter = remainingMsOf({ ...slowest, gapMs: toMs }, now) ?? 0;
  const secondMs = second?.remainingMs ?? 0;
  const savedMs = slowest.remainingMs - Math.max(shorter, secondMs);
  if (savedMs < MIN_SAVING_MS) return null;
  const next = second !== undefined && secondMs > shorter ? second.domain : slowest.domain;
  return { domain: slowest.domain, fromMs: slowest.gapMs, toMs, savedMs, next };
}
