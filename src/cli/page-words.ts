/** A page in words: where it is now and why, and what was tried. */
import type { Place } from '../../workflows/throttle/place.ts';
import type { ThrottleView } from '../../workflows/throttle/view.ts';
import { ordinal } from '../../workflows/words.ts';
import type { PageReport } from '../storage/page-report.ts';
import { clock, REASONS, soon, span } from './domain-words.ts';
import { renderTable } from './table.ts';

/** What its throttle says; null: it does not run, or no worker answers for it. */
export interface Whereabouts {
  place: Place;
  domain: ThrottleView;
}

export function renderPage(report: PageReport, where: Whereabouts | null, now: Date): string[] {
  const { page, crawl, alsoIn } = report;
  return [
    page.url,
    `  Crawl     ${crawl.id} (${crawl.status})${alsoIn.length > 0 ? `; also in ${alsoIn.join(', ')}` : ''}`,
    `  Domain    ${page.domain}`,
    `  Found     ${page.seed ? 'as a start URL' : `at depth ${page.depth}`}, priority ${page.priority}`,
    `  Now       ${page.status}: ${whereAndWhy(report, where, now)}`,
    ...(report.attempts.length === 0 ? ['  Attempts  none yet'] : ['', ...attemptTable(report, now)]),
  ];
}

export function whereAndWhy(report: PageReport, where: Whereabouts | null, now: Date): string {
  const { page, crawl, robotsTrouble } = report;
  switch (page.status) {
    case 'Pending':
      return pending(report, now);
    case 'Waiting':
      return asleep(report, now);
    case 'Queued':
      if (where !== null && where.place.kind !== 'absent')
        return inLine(page.domain, where.place, where.domain, now);
      if (page.nextAt !== null && page.nextAt > now) return asleep(report, now);
      if (robotsTrouble !== null && robotsTrouble.heldUntil > now)
        return `its robots.txt cannot be read (${robotsTrouble.error}); tried again at ${clock(robotsTrouble.heldUntil, now)}.`;
      return where === null
        ? `it waits for a slot of ${page.domain}, whose throttle does not answer: is a worker running?`
        : 'under way: about to ask for a slot, or being recorded.';
    case 'Fetched':
      return `status ${page.statusCode}${page.fetchedAt === null ? '' : ` at ${clock(page.fetchedAt, now)}`}${page.title === null ? '.' : `, "${page.title}".`}`;
    case 'Redirected':
      return `to ${page.redirectTo}${page.reason === null ? '.' : `, which is not followed: ${page.reason}`}`;
    case 'Failed':
      return `after ${page.attempts} of ${crawl.maximumAttempts} attempts: ${page.reason ?? 'no reason on record.'}`;
    case 'Rejected':
    case 'Blocked':
    case 'Cancelled':
      return page.reason ?? 'no reason on record.';
  }
}

function pending({ page, crawl, before }: PageReport, now: Date): string {
  if (crawl.status === 'Paused') return 'the crawl is paused.';
  if (crawl.status === 'Cancelling') return 'the crawl is being cancelled.';
  if (page.nextAt !== null)
    return `not before ${clock(page.nextAt, now)} (${soon(page.nextAt.getTime(), now)}): ${page.reason ?? 'it was put off.'}`;
  const { pending: ahead, queued } = before ?? { pending: 0, queued: 0 };
  const window = `${queued} of ${crawl.window} places of ${page.domain} are taken`;
  return ahead === 0 ? `the next to begin; ${window}.` : `behind ${ahead} others; ${window}.`;
}

function asleep({ page, crawl, attempts }: PageReport, now: Date): string {
  const { nextAt } = page;
  if (nextAt === null) return page.reason ?? 'about to go on.';
  const when = `at ${clock(nextAt, now)} (${soon(nextAt.getTime(), now)})`;
  const isRetry = attempts.at(-1)?.nextAttemptAt?.getTime() === nextAt.getTime();
  return isRetry
    ? `retry ${page.attempts + 1} of ${crawl.maximumAttempts} ${when}, after ${page.reason}`
    : `tried again ${when}: ${page.reason ?? 'it was put off.'}`;
}

function inLine(
  domain: string,
  place: Exclude<Place, { kind: 'absent' }>,
  view: ThrottleView,
  now: Date,
): string {
  if (place.kind === 'granted') {
    return place.startedAt === null
      ? `it has a slot of ${domain} and is being fetched; it had to start between ${clock(place.notBefore, now)} and ${clock(place.startBy, now)}.`
      : `it is being fetched since ${clock(place.startedAt, now)}.`;
  }
  const position = `${ordinal(place.position)} of ${place.of} in line for a slot of ${domain}`;
  switch (view.phase) {
    case 'paused':
      return `${position}, which is paused by an operator.`;
    case 'blocked':
      return `${position}, which asked for patience (Retry-After) until ${clock(view.blockedUntil ?? view.now, now)}.`;
    case 'down':
      return `${position}, which cannot be reached: ${view.outages[0]?.error ?? 'no connection.'}`;
    case 'loading':
    case 'open': {
      const when = place.expectedAt === null ? '' : `, expected ${soon(place.expectedAt, now)}`;
      return `${position}${when}; the gap is ${span(view.gapMs)}, because of ${REASONS[view.gapBecause]}.`;
    }
  }
}

function attemptTable({ attempts, crawl }: PageReport, now: Date): string[] {
  const rows = attempts.map((attempt) => [
    `${attempt.attempt} of ${crawl.maximumAttempts}`,
    attempt.startedAt === null ? 'not sent' : clock(attempt.startedAt, now),
    span(attempt.slotWaitMs),
    attempt.latencyMs === null ? '' : span(attempt.latencyMs),
    attempt.statusCode === null ? '' : String(attempt.statusCode),
    attempt.outcome,
    attempt.nextAttemptAt === null
      ? ''
      : `${clock(attempt.nextAttemptAt, now)} (${span(attempt.nextAttemptAt.getTime() - attempt.finishedAt.getTime())} later)`,
    attempt.error ?? '',
  ]);
  const headers = [
    'Attempt',
    'Started',
    'Slot wait',
    'Latency',
    'Status',
    'Outcome',
    'Next attempt',
    'Error',
  ];
  return renderTable(headers, rows).map((line) => `  ${line}`);
}
