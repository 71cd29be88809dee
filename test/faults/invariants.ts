/**
 * What must be true after a run, whatever faults were injected. Pure: evidence in, violations out, each a sentence that names
 * its subject. Only one violation is ever excused, the one that the README names: a page may be fetched again if its fetch was
 * in flight, and not on record, when something was killed.
 */
import { isOpen } from '../../src/core/outcome.ts';
import { isRetryable } from '../../src/core/retry-policy.ts';
import type { Arrival, AttemptOnRecord, Evidence, Injected } from './evidence.ts';

/** Between the write of a request and its arrival: the scheduler's, not the crawler's. */
export const JITTER_MS = 20;

/** How far a recorded time, which is on Postgres's clock, may be off. */
const CLOCK_MS = 100;

/** Times a request must have been lost with its worker before that may cost the page an attempt. */
const LOSSES_PER_ATTEMPT = 3;

export interface Judgement {
  violations: string[];
  /** How many of them are about pages that are lost, or not what they should be. */
  lost: number;
  /** Pages fetched whole more than once, by the fault that excuses it. */
  repeats: { url: string; fault: string }[];
}

export function judge(evidence: Evidence): Judgement {
  const { repeats, violations } = judgeRepeats(evidence);
  const losses = nothingIsLost(evidence);
  return {
    repeats,
    lost: losses.length,
    violations: [
      ...countsAddUp(evidence),
      ...losses,
      ...violations,
      ...nothingAfterTheEnd(evidence),
      ...gapsOnRecord(evidence),
      ...gapsOnArrival(evidence),
      ...attemptsWithinPolicy(evidence),
    ],
  };
}

/** found = the sum of final statuses, both in the crawl's result and in its rows. */
function countsAddUp({ crawl, pages }: Evidence): string[] {
  const violations: string[] = [];
  if (crawl.status !== 'Completed') violations.push(`the crawl is ${crawl.status}, not Completed`);
  const sum = Object.values(crawl.pages).reduce((total, count) => total + count, 0);
  if (sum !== crawl.found) violations.push(`the crawl found ${crawl.found} pages, but accounts for ${sum}`);
  if (crawl.found !== pages.length)
    violations.push(`the crawl found ${crawl.found} pages, but ${pages.length} are on record`);
  for (const [status, count] of Object.entries(crawl.pages)) {
    const rows = pages.filter((page) => page.status === status).length;
    if (rows !== count) violations.push(`the crawl counts ${count} ${status}, but ${rows} are on record`);
  }
  for (const { url, status } of pages) if (isOpen(status)) violations.push(`${url} is still ${status}`);
  return violations;
}

/** Every page of the web, once, with the one status it must have; and no other. */
function nothingIsLost({ expected, pages }: Evidence): string[] {
  const violations: string[] = [];
  const rows = groupBy(pages, ({ url }) => url);
  for (const { url, status } of expected) {
    const found = rows.get(url) ?? [];
    if (found.length === 0) violations.push(`${url} is lost`);
    if (found.length > 1) violations.push(`${url} is on record ${found.length} times`);
    for (const page of found)
      if (page.status !== status) violations.push(`${url} is ${page.status}, not ${status}`);
  }
  const known = new Set(expected.map(({ url }) => url));
  for (const { url } of pages) if (!known.has(url)) violations.push(`${url} was never on the web`);
  return violations;
}

/** Each response that was followed by another request for the same page needs a fault of its own to excuse it. */
function judgeRepeats({ arrivals, injected }: Evidence): Omit<Judgement, 'lost'> {
  const violations: string[] = [];
  const repeats: Judgement['repeats'] = [];
  const spent = new Set<string>();
  for (const [url, visits] of pageVisits(arrivals)) {
    for (const [i, visit] of visits.entries()) {
      const next = visits[i + 1];
      if (next === undefined || !isSuccess(visit)) continue;
      const excuse = injected.find(
        (fault, at) => !spent.has(`${at} ${url}`) && excuses(fault, url, visit.atMs, next.atMs),
      );
      if (excuse === undefined) {
        violations.push(
          `${url} was fetched at ${visit.atMs.toFixed(0)} and again ${(next.atMs - visit.atMs).toFixed(0)} ms later, with no fault to excuse it`,
        );
      } else {
        spent.add(`${injected.indexOf(excuse)} ${url}`);
        repeats.push({ url, fault: excuse.fault });
      }
    }
  }
  return { violations, repeats };
}

function excuses({ exposed, fromMs, untilMs }: Injected, url: string, fetchedAt: number, againAt: number) {
  return exposed.includes(url) && untilMs >= fetchedAt && fromMs <= againAt;
}

/** A page whose end is on record is not requested again. */
function nothingAfterTheEnd({ arrivals, attempts, pages }: Evidence): string[] {
  const visits = pageVisits(arrivals);
  return pages.flatMap(({ url }) => {
    const ended = Math.max(...attemptsOf(attempts, url).map(({ recordedAtMs }) => recordedAtMs));
    return (visits.get(url) ?? [])
      .filter(({ atMs, lateMs }) => atMs - lateMs > ended)
      .map(({ atMs }) => `${url} was requested ${(atMs - ended).toFixed(0)} ms after its end was recorded`);
  });
}

function gapsOnRecord({ requests, policy }: Evidence): string[] {
  const sorted = requests.toSorted((one, other) => one.startedAtMs - other.startedAtMs);
  return [...groupBy(sorted, ({ domain }) => domain).values()].flatMap((visits) =>
    pairs(visits).flatMap(([one, other]) => {
      const gap = other.startedAtMs - one.startedAtMs;
      const requiredMs = Math.max(policy.gapMs, other.minGapMs);
      if (gap >= requiredMs) return [];
      return [`on record, ${other.url} started ${gap} ms after ${one.url}, not ${requiredMs} ms`];
    }),
  );
}

function gapsOnArrival({ arrivals, policy }: Evidence): string[] {
  return [...groupBy(inOrder(arrivals), ({ host }) => host).values()].flatMap((visits) =>
    pairs(visits).flatMap(([one, other]) => {
      const gap = other.atMs - (one.atMs - one.lateMs);
      const requiredMs = policy.gapMs - JITTER_MS;
      if (gap >= requiredMs) return [];
      return [
        `${other.url} (${other.worker}) came ${gap.toFixed(1)} ms after ${one.url} (${one.worker}), not ${requiredMs} ms`,
      ];
    }),
  );
}

/** Attempts are numbered, spaced and bounded by the policy, and only failures of the site cost one. */
function attemptsWithinPolicy({ pages, attempts, arrivals, injected, policy }: Evidence): string[] {
  const visits = pageVisits(arrivals);
  return pages.flatMap(({ url, attempts: counted }) => {
    const violations: string[] = [];
    const made = attemptsOf(attempts, url);
    if (made.length !== counted)
      violations.push(`${url} counts ${counted} attempts, but ${made.length} are on record`);
    if (made.length > policy.maximumAttempts) violations.push(`${url} had ${made.length} attempts`);
    for (const [i, { attempt }] of made.entries())
      if (attempt !== i + 1) violations.push(`${url} has no attempt ${i + 1}, but one numbered ${attempt}`);
    for (const [one, other] of pairs(made)) {
      if (!isRetryable(one.outcome)) violations.push(`${url} was tried again after ${one.outcome}`);
      const waited = (other.startedAtMs ?? other.finishedAtMs) - one.finishedAtMs;
      if (waited < policy.retryAfterMs)
        violations.push(`${url} was tried again after ${waited} ms, not ${policy.retryAfterMs} ms`);
    }
    const failed = made.filter(({ outcome }) => isRetryable(outcome));
    const charged = failed.length;
    const refused = (visits.get(url) ?? []).filter(({ status }) => status !== null && status >= 500).length;
    const failures = refused + failed.filter((attempt) => failedBySite(attempt, injected)).length;
    const losses = injected.filter(({ exposed }) => exposed.includes(url)).length;
    const allowed = failures + Math.floor(losses / LOSSES_PER_ATTEMPT);
    if (charged > allowed)
      violations.push(`${url} was charged ${charged} attempts for ${failures} failures of its site`);
    return violations;
  });
}

/** The attempt was in flight while the site failed. */
function failedBySite(
  { startedAtMs, finishedAtMs }: AttemptOnRecord,
  injected: readonly Injected[],
): boolean {
  return injected.some(
    ({ isSiteFailure, fromMs, untilMs }) =>
      isSiteFailure &&
      (startedAtMs ?? finishedAtMs) <= untilMs + CLOCK_MS &&
      finishedAtMs >= fromMs - CLOCK_MS,
  );
}

function pageVisits(arrivals: readonly Arrival[]): Map<string, Arrival[]> {
  return groupBy(inOrder(arrivals.filter(({ page }) => page)), ({ url }) => url);
}

function attemptsOf(attempts: readonly AttemptOnRecord[], url: string): AttemptOnRecord[] {
  return attempts.filter((attempt) => attempt.url === url).sort((one, other) => one.attempt - other.attempt);
}

function inOrder(arrivals: readonly Arrival[]): Arrival[] {
  return arrivals.toSorted((one, other) => one.atMs - other.atMs);
}

/** A complete response: only a failure is worth another request. */
function isSuccess({ status }: Arrival): boolean {
  return status !== null && status < 500;
}

function groupBy<T>(items: readonly T[], keyOf: (item: T) => string): Map<string, T[]> {
  const groups = new Map<string, T[]>();
  for (const item of items) groups.set(keyOf(item), [...(groups.get(keyOf(item)) ?? []), item]);
  return groups;
}

function pairs<T>(items: readonly T[]): [T, T][] {
  return items.slice(1).flatMap((item, i) => {
    const before = items[i];
    return before === undefined ? [] : [[before, item] satisfies [T, T]];
  });
}
