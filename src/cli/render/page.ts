/** A page in words: where it is now and why, and what was tried. */

import { formatDuration, ordinal } from '../../core/format.ts';
import type { RobotsHop } from '../../core/page-input.ts';
import type { PageReport } from '../../storage/reports/page-report.ts';
import type { QueuePosition } from '../../throttle/queue-position.ts';
import type { ThrottleView } from '../../throttle/view.ts';
import { originOf } from '../../urls/index.ts';
import type { DomainReport } from '../connect/domains.ts';
import type { AtWork } from '../connect/worker-status.ts';
import { clock, REASONS, soon } from './domain.ts';
import { holdOf } from './domain-block.ts';
import { pending } from './pending-page.ts';
import { renderTable } from './table.ts';

/** What its throttle says; null: it does not run, or no worker answers for it. */
export interface Whereabouts {
  place: QueuePosition;
  domain: ThrottleView;
  /** Set: it is the throttle of another domain, to which the page's robots.txt was redirected. */
  robots?: RobotsHop;
}

/** What is known of a page beside its own rows. */
export interface Surroundings {
  /** Of a page that has begun. */
  where: Whereabouts | null;
  /** Of a page that has begun or may. */
  domain: DomainReport | null;
  /** null: nobody need be, for it has ended. */
  atWork: AtWork | null;
}

export function renderPage(report: PageReport, around: Surroundings, now: Date): string[] {
  const { page, crawl, alsoIn } = report;
  return [
    page.url,
    `  Crawl     ${crawl.id} (${crawl.status})${alsoIn.length > 0 ? `; also in ${alsoIn.join(', ')}` : ''}`,
    `  Domain    ${page.domain}`,
    `  Found     ${page.seed ? 'as a start URL' : `at depth ${page.depth}`}, priority ${page.priority}`,
    ...chainLines(report),
    `  Now       ${page.status}: ${whereAndWhy(report, around, now)}`,
    ...(around.atWork?.working === false
      ? [`            Nobody works on the crawl: ${around.atWork.because}.`]
      : []),
    ...(report.attempts.length === 0 ? ['  Attempts  none yet'] : ['', ...attemptTable(report, now)]),
  ];
}

/** `a -> b -> this page -> c`, a line each; pages that lead to the same one share theirs. */
function chainLines({ page, chain }: PageReport): string[] {
  if (chain.length === 0) return [];
  const steps = new Map<number, string[]>();
  for (const { url, step } of [...chain, { url: `${page.url} (this page)`, step: 0 }])
    steps.set(step, [...(steps.get(step) ?? []), url]);
  const inOrder = [...steps].sort(([one], [other]) => one - other).map(([, urls]) => urls.join(', '));
  return inOrder.map((urls, at) => (at === 0 ? `  Chain     ${urls}` : `            -> ${urls}`));
}

export function whereAndWhy(report: PageReport, { where, domain }: Surroundings, now: Date): string {
  const { page, crawl, robotsTrouble } = report;
  const stands = standstill(crawl);
  switch (page.status) {
    case 'Pending':
      return stands ?? pending(report, domain, now);
    case 'Waiting':
      return stands ?? asleep(report, now);
    case 'Queued':
      if (where?.place.kind === 'granted') return atThrottle(page, where, now);
      if (stands !== null) return stands;
      if (where?.place.kind === 'queued') return atThrottle(page, where, now);
      if (page.nextAt !== null && page.nextAt > now) return asleep(report, now);
      if (robotsTrouble !== null && robotsTrouble.heldUntil > now)
        return `its robots.txt cannot be read since ${clock(robotsTrouble.since, now)} (${robotsTrouble.error}); tried again at ${clock(robotsTrouble.heldUntil, now)}.`;
      return where === null ? unanswered(page, domain, now) : atThrottle(page, where, now);
    case 'Fetched':
      return `status ${page.statusCode}${page.fetchedAt === null ? '' : ` at ${clock(page.fetchedAt, now)}`}${page.title === null ? '.' : `, "${page.title}".`}`;
    case 'Redirected':
      return `to ${page.redirectTo}${page.reason === null ? '.' : `, ${page.reason}.`}`;
    case 'Failed':
      return `after ${page.attempts} of ${crawl.maximumAttempts} attempts: ${page.reason ?? 'no reason on record.'}`;
    case 'Rejected':
    case 'Blocked':
    case 'Cancelled':
      return page.reason ?? 'no reason on record.';
  }
}

function atThrottle(page: PageReport['page'], { place, domain, robots }: Whereabouts, now: Date): string {
  const wanted = robots ?? page;
  const first = robots === undefined ? '' : `first its robots.txt, which leads to ${robots.url}: `;
  switch (place.kind) {
    case 'granted':
      return first + beingFetched(wanted.domain, place, now);
    case 'queued':
      return first + inLine(wanted, place, domain, now);
    case 'absent':
      return `${first}under way: about to ask for a slot, or being recorded.`;
  }
}

function unanswered(page: PageReport['page'], domain: DomainReport | null, now: Date): string {
  const hold = domain && holdOf(domain, originOf(page.url), now);
  const silent = `it waits for a slot of ${page.domain}, whose throttle does not answer`;
  if (!hold) return `${silent}: is a worker running?`;
  return `${silent}; as last written down, ${hold.origin ?? 'the domain'} ${hold.predicate}`;
}

/** null: it goes on. */
function standstill({ status }: PageReport['crawl']): string | null {
  if (status === 'Paused') return 'the crawl is paused.';
  return status === 'Cancelling' ? 'the crawl is being cancelled.' : null;
}

function asleep({ page, crawl, attempts, robotsTrouble }: PageReport, now: Date): string {
  const { nextAt } = page;
  if (nextAt === null) return page.reason ?? 'about to go on.';
  const when = `at ${clock(nextAt, now)} (${soon(nextAt.getTime(), now)})`;
  const isRetry = attempts.at(-1)?.nextAttemptAt?.getTime() === nextAt.getTime();
  if (isRetry) return `retry ${page.attempts + 1} of ${crawl.maximumAttempts} ${when}, after ${page.reason}`;
  const unread =
    robotsTrouble === null ? '' : ` Its robots.txt cannot be read since ${clock(robotsTrouble.since, now)}.`;
  return `tried again ${when}: ${page.reason ?? 'it was put off.'}${unread}`;
}

type At<K> = Extract<QueuePosition, { kind: K }>;

function beingFetched(domain: string, place: At<'granted'>, now: Date): string {
  return place.startedAt === null
    ? `it has a slot of ${domain} and is being fetched; it had to start between ${clock(place.notBefore, now)} and ${clock(place.startBy, now)}.`
    : `it is being fetched since ${clock(place.startedAt, now)}.`;
}

function inLine(
  { domain, url }: Pick<RobotsHop, 'domain' | 'url'>,
  place: At<'queued'>,
  view: ThrottleView,
  now: Date,
): string {
  const position = `${ordinal(place.position)} of ${place.of} in line for a slot of ${domain}`;
  const hold = holdOf({ domain, live: view, known: null }, originOf(url), now);
  if (hold !== null)
    return `${position}${hold.origin === null ? ', which' : `; ${hold.origin}`} ${hold.predicate}`;
  const when = place.expectedAt === null ? '' : `, expected ${soon(place.expectedAt, now)}`;
  return `${position}${when}; the gap is ${formatDuration(view.gapMs)}, because of ${REASONS[view.gapReason]}.`;
}

function attemptTable({ attempts, crawl }: PageReport, now: Date): string[] {
  const rows = attempts.map((attempt) => [
    `${attempt.attempt} of ${crawl.maximumAttempts}`,
    attempt.startedAt === null ? 'not sent' : clock(attempt.startedAt, now),
    formatDuration(attempt.slotWaitMs),
    attempt.latencyMs === null ? '' : formatDuration(attempt.latencyMs),
    attempt.statusCode === null ? '' : String(attempt.statusCode),
    attempt.outcome,
    attempt.nextAttemptAt === null
      ? ''
      : `${clock(attempt.nextAttemptAt, now)} (${formatDuration(attempt.nextAttemptAt.getTime() - attempt.finishedAt.getTime())} later)`,
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
