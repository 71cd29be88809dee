/** When a polite crawl can end: pages that are left, times the gap between them, on each of its domains. */
import type { DomainRemaining } from '../storage/reports/remaining.ts';

export interface RemainingTime extends DomainRemaining {
  /** If it is worked on without interruption. null: it is paused. */
  remainingMs: number | null;
  /** The same with half the delay, as far as the site allows that. null: it is paused. */
  atHalfMs: number | null;
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
    .map((domain) => ({
      ...domain,
      remainingMs: remainingMsOf(domain, now),
      atHalfMs: remainingMsOf({ ...domain, gapMs: halfGapMs(domain) }, now),
    }))
    .sort(
      (one, other) =>
        (other.remainingMs ?? -1) - (one.remainingMs ?? -1) || one.domain.localeCompare(other.domain),
    );
  return { domains, remainingMs: domains[0]?.remainingMs ?? null, saving: savingOf(domains) };
}

function remainingMsOf({ open, gapMs, paused, blockedUntil }: DomainRemaining, now: Date): number | null {
  if (paused) return null;
  return Math.max(0, (blockedUntil?.getTime() ?? 0) - now.getTime()) + open * gapMs;
}

/** A Crawl-delay or a backoff is not shortened. */
function halfGapMs({ gapMs, siteGapMs }: DomainRemaining): number {
  return Math.min(gapMs, Math.max(gapMs / 2, siteGapMs));
}

/** Less would not be worth a change. */
const MIN_SAVING_MS = 60_000;

function savingOf([slowest, second]: readonly RemainingTime[]): Saving | null {
  if (slowest === undefined || slowest.remainingMs === null) return null;
  const toMs = halfGapMs(slowest);
  const shorter = slowest.atHalfMs ?? 0;
  const secondMs = second?.remainingMs ?? 0;
  const savedMs = slowest.remainingMs - Math.max(shorter, secondMs);
  if (savedMs < MIN_SAVING_MS) return null;
  const next = second !== undefined && secondMs > shorter ? second.domain : slowest.domain;
  return { domain: slowest.domain, fromMs: slowest.gapMs, toMs, savedMs, next };
}
