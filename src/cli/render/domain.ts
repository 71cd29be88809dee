/** A domain in words: how long the next page has to wait, and why. */

import { formatDelayRange } from '../../config/index.ts';
import { formatDuration } from '../../core/format.ts';
import type { StoredDomain } from '../../core/slot-protocol.ts';
import type { GapReason } from '../../throttle/gap.ts';
import type { ThrottleView } from '../../throttle/view.ts';
import type { DomainReport } from '../connect/domains.ts';
import { renderTable } from './table.ts';

export function renderDomain(report: DomainReport, now: Date): string[] {
  const { domain, live, known } = report;
  if (live !== null) return [`${domain}: ${stateInWords(report, now)}`, ...rows(liveFacts(live, now))];
  if (known === null) return [`${domain}: no crawl has met it yet.`];
  return [
    `${domain}: ${stateInWords(report, now)}`,
    ...rows(storedFacts(known.stored, now)),
    `  Its throttle does not run or has no worker to answer; this was written down at ${clock(known.writtenAt, now)}.`,
  ];
}

export function renderDomains(reports: readonly DomainReport[], now: Date): string[] {
  const headers = ['Domain', 'State', 'Gap', 'Because of', 'In line', 'Last request', 'Average'];
  const lines = reports.map((report) => {
    const { live, known } = report;
    const gap = live ? { ms: live.gapMs, because: live.gapReason } : known && storedGap(known.stored);
    const lastStart = live?.lastStart ?? known?.stored.lastStart ?? null;
    const average = (live ?? known?.stored)?.stats.averageDurationMs ?? null;
    return [
      report.domain,
      stateInWords(report, now),
      gap ? formatDuration(gap.ms) : '',
      gap ? REASONS[gap.because] : '',
      live?.waiting ?? 0,
      lastStart === null ? '' : ago(lastStart, now),
      average === null ? '' : formatDuration(average),
    ];
  });
  return renderTable(headers, lines);
}

export const REASONS: Record<GapReason, string> = {
  crawl: "the crawl's delay",
  operator: 'the delay set for it',
  'crawl-delay': 'Crawl-delay in robots.txt',
  backoff: 'backoff',
  latency: 'its latency',
};

function stateInWords({ live, known }: DomainReport, now: Date): string {
  if (live === null) {
    if (known?.stored.paused) return 'paused';
    const until = known?.stored.blockedUntil ?? 0;
    if (until > now.getTime()) return `blocked until ${clock(until, now)}`;
    const outages = Object.values(known?.stored.outages ?? {});
    if (outages.length === 0) return 'at rest';
    const upAgainAt = Math.max(...outages.map((outage) => outage.until));
    return upAgainAt > now.getTime() ? `down until ${clock(upAgainAt, now)}` : 'down when last tried';
  }
  switch (live.phase) {
    case 'loading':
      return 'starting';
    case 'open':
      return 'open';
    case 'paused':
      return 'paused';
    case 'blocked':
      return `blocked until ${clock(live.blockedUntil ?? live.now, now)}`;
    case 'down':
      return 'down';
  }
}

type Fact = [name: string, value: string];

function liveFacts(view: ThrottleView, now: Date): Fact[] {
  return [
    ['Gap', `${formatDuration(view.gapMs)}, because of ${REASONS[view.gapReason]}`],
    ...delayFacts(view.operatorDelay, view.crawlDelayMs, view.backoffMs, view.blockedUntil, now),
    ...view.outages.map((outage): Fact => outageFact(outage.origin, outage, now)),
    ...lastRequest(view.lastStart, now),
    ['In line', view.waiting === 0 ? 'nobody' : `${view.waiting} pages${nextGrant(view, now)}`],
    ...view.next.map(
      ({ workflowId, askedAt }, i): Fact => ['', `${i + 1}. ${workflowId}, asked ${ago(askedAt, now)}`],
    ),
    ...view.leases.map(
      ({ workflowId, startedAt, startBy }): Fact => [
        'Lease',
        `${workflowId}, ${startedAt === null ? `to start by ${clock(startBy, now)}` : `started ${ago(startedAt, now)}`}`,
      ],
    ),
    ...statFacts(view.stats),
  ];
}

function storedFacts(stored: StoredDomain, now: Date): Fact[] {
  const { delay, crawlDelays, backoffMs, blockedUntil, outages } = stored;
  const gap = storedGap(stored);
  return [
    ['Gap', `${formatDuration(gap.ms)}, because of ${REASONS[gap.because]}`],
    ...delayFacts(delay, Math.max(0, ...Object.values(crawlDelays)), backoffMs, blockedUntil, now),
    ...Object.entries(outages).map(([origin, outage]): Fact => outageFact(origin, outage, now)),
    ...lastRequest(stored.lastStart, now),
    ...statFacts(stored.stats),
  ];
}

/** As far as the row tells; a crawl that comes may want a longer one. */
function storedGap({ delay, crawlDelays, backoffMs, maxGapMs }: StoredDomain): {
  ms: number;
  because: GapReason;
} {
  const wishes: { ms: number; because: GapReason }[] = [
    { ms: maxGapMs, because: 'crawl' },
    { ms: delay?.maxMs ?? 0, because: 'operator' },
    { ms: Math.max(0, ...Object.values(crawlDelays)), because: 'crawl-delay' },
    { ms: backoffMs, because: 'backoff' },
  ];
  return wishes.reduce((longest, wish) => (wish.ms > longest.ms ? wish : longest));
}

function delayFacts(
  operatorDelay: StoredDomain['delay'],
  crawlDelayMs: number,
  backoffMs: number,
  blockedUntil: number | null,
  now: Date,
): Fact[] {
  return [
    ['Delay set', operatorDelay === null ? 'none' : formatDelayRange(operatorDelay)],
    ['Crawl-delay', crawlDelayMs === 0 ? 'none' : formatDuration(crawlDelayMs)],
    ['Backoff', backoffMs === 0 ? 'none' : formatDuration(backoffMs)],
    ...(blockedUntil !== null && blockedUntil > now.getTime()
      ? [['Cooldown', `until ${clock(blockedUntil, now)}, as its Retry-After asked for`] satisfies Fact]
      : []),
  ];
}

function outageFact(
  origin: string,
  { since, until, error }: StoredDomain['outages'][string],
  now: Date,
): Fact {
  return [
    'Down',
    `${origin} since ${clock(since, now)}, tried again ${until > now.getTime() ? `at ${clock(until, now)}` : 'now'}: ${error}`,
  ];
}

function lastRequest(lastStart: number | null, now: Date): Fact[] {
  return [
    ['Last request', lastStart === null ? 'none yet' : `${clock(lastStart, now)}, ${ago(lastStart, now)}`],
  ];
}

function nextGrant({ nextGrantAt, phase }: ThrottleView, now: Date): string {
  if (nextGrantAt !== null) return `; next slot ${soon(nextGrantAt, now)}`;
  return phase === 'paused' ? '; no slot before the domain is resumed' : '';
}

function statFacts({
  granted,
  started,
  unused,
  lost,
  overloaded,
  unreachable,
  averageDurationMs,
  recentResponses,
}: StoredDomain['stats']): Fact[] {
  const failed = recentResponses.filter(
    (responseClass) => responseClass !== 'ok' && responseClass !== 'not-found',
  ).length;
  return [
    ['Requests', `${started} of ${granted} slots granted; ${unused} unused, ${lost} lost`],
    [
      'Trouble',
      `${overloaded} overloaded, ${unreachable} unreachable; ${failed} of the last ${recentResponses.length} failed`,
    ],
    [
      'Average',
      averageDurationMs === null ? 'not known yet' : `${formatDuration(averageDurationMs)} a request`,
    ],
  ];
}

function rows(facts: readonly Fact[]): string[] {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`.trimEnd());
}

export function ago(at: number, now: Date): string {
  return `${formatDuration(now.getTime() - at)} ago`;
}

export function soon(at: number, now: Date): string {
  return at <= now.getTime() ? 'now' : `in ${formatDuration(at - now.getTime())}`;
}

/** `14:05:09`, with its date when that is not today's. */
export function clock(at: number | Date, now: Date): string {
  const time = new Date(at);
  const hours = time.toLocaleTimeString('en-GB');
  return time.toDateString() === now.toDateString() ? hours : `${time.toLocaleDateString('sv-SE')} ${hours}`;
}
