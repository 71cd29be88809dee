/** Domains as people read them: a table of all, or everything about one. */
import { formatDelayRange } from '../../core/duration.ts';
import { formatDuration } from '../../core/format.ts';
import type { StoredDomain } from '../../core/slot-protocol.ts';
import type { ThrottleView } from '../../throttle/view.ts';
import type { DomainReport } from '../connect/domains.ts';
import { describeDomainState, describeGap, GAP_REASONS, nextAttempt } from './domain-state.ts';
import { formatAgo, formatClock, formatIn, formatPlural, renderTable } from './text.ts';

type Gap = Pick<ThrottleView, 'gapMs' | 'gapReason'>;

export function renderDomains(reports: readonly DomainReport[], now: Date): string[] {
  const headers = ['Domain', 'State', 'Gap', 'Reason', 'Queued', 'Last request', 'Average'];
  const rows = reports.map((report) => {
    const { live, known } = report;
    const gap = live ?? (known && storedGap(known.stored));
    const lastStart = live?.lastStart ?? known?.stored.lastStart ?? null;
    const average = (live ?? known?.stored)?.stats.averageDurationMs ?? null;
    return [
      report.domain,
      describeDomainState(report, now),
      gap ? formatDuration(gap.gapMs) : '',
      gap ? GAP_REASONS[gap.gapReason] : '',
      live?.waiting ?? 0,
      lastStart === null ? '' : formatAgo(lastStart, now),
      average === null ? '' : formatDuration(average),
    ];
  });
  return renderTable(headers, rows);
}

export function renderDomain(report: DomainReport, now: Date): string[] {
  const { domain, live, known } = report;
  if (live !== null) return [`${domain}: ${describeDomainState(report, now)}`, ...rows(liveFacts(live, now))];
  if (known === null) return [`${domain}: no crawl has requested anything from it yet`];
  return [
    `${domain}: ${describeDomainState(report, now)}`,
    ...rows(storedFacts(known.stored, now)),
    `  As stored at ${formatClock(known.writtenAt, now)}; its throttle is not running, or no worker answers for it.`,
  ];
}

type Fact = [name: string, value: string];

function liveFacts(view: ThrottleView, now: Date): Fact[] {
  return [
    ['Gap', describeGap(view)],
    ...delayFacts(view.operatorDelay, view.crawlDelayMs, view.backoffMs, view.blockedUntil, now),
    ...view.outages.map((outage): Fact => outageFact(outage.origin, outage, now)),
    ...lastRequest(view.lastStart, now),
    ['Queued', view.waiting === 0 ? 'none' : `${formatPlural(view.waiting, 'page')}${nextSlot(view, now)}`],
    ...view.next.map(
      ({ workflowId, askedAt }, i): Fact => [
        '',
        `${i + 1}. ${workflowId}, queued ${formatAgo(askedAt, now)}`,
      ],
    ),
    ...view.leases.map(
      ({ workflowId, startedAt, startBy }): Fact => [
        'Lease',
        `${workflowId}, ${startedAt === null ? `must start by ${formatClock(startBy, now)}` : `started ${formatAgo(startedAt, now)}`}`,
      ],
    ),
    ...statFacts(view.stats),
  ];
}

function storedFacts(stored: StoredDomain, now: Date): Fact[] {
  const { delay, crawlDelays, backoffMs, blockedUntil, outages } = stored;
  return [
    ['Gap', describeGap(storedGap(stored))],
    ...delayFacts(delay, Math.max(0, ...Object.values(crawlDelays)), backoffMs, blockedUntil, now),
    ...Object.entries(outages).map(([origin, outage]): Fact => outageFact(origin, outage, now)),
    ...lastRequest(stored.lastStart, now),
    ...statFacts(stored.stats),
  ];
}

/** As far as the row tells; a future crawl may want a longer gap. */
function storedGap({ delay, crawlDelays, backoffMs, maxGapMs }: StoredDomain): Gap {
  const gaps: Gap[] = [
    { gapMs: maxGapMs, gapReason: 'crawl' },
    { gapMs: delay?.maxMs ?? 0, gapReason: 'operator' },
    { gapMs: Math.max(0, ...Object.values(crawlDelays)), gapReason: 'crawl-delay' },
    { gapMs: backoffMs, gapReason: 'backoff' },
  ];
  return gaps.reduce((longest, gap) => (gap.gapMs > longest.gapMs ? gap : longest));
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
      ? [['Retry-After', `no requests until ${formatClock(blockedUntil, now)}`] satisfies Fact]
      : []),
  ];
}

function outageFact(origin: string, outage: StoredDomain['outages'][string], now: Date): Fact {
  return [
    'Down',
    `${origin} since ${formatClock(outage.since, now)}, next attempt ${nextAttempt(outage, now)}. Error: ${outage.error}`,
  ];
}

function lastRequest(lastStart: number | null, now: Date): Fact[] {
  return [
    [
      'Last request',
      lastStart === null ? 'none yet' : `${formatClock(lastStart, now)}, ${formatAgo(lastStart, now)}`,
    ],
  ];
}

function nextSlot({ nextGrantAt, phase }: ThrottleView, now: Date): string {
  if (nextGrantAt !== null) return `; next slot ${formatIn(nextGrantAt, now)}`;
  return phase === 'paused' ? '; no slots until the domain is resumed' : '';
}

function statFacts(stats: StoredDomain['stats']): Fact[] {
  const { granted, started, unused, lost, averageDurationMs } = stats;
  return [
    ['Requests', `${started} (${formatPlural(granted, 'slot')} granted, ${unused} unused, ${lost} lost)`],
    ['Problems', describeProblems(stats)],
    [
      'Average',
      averageDurationMs === null ? 'not known yet' : `${formatDuration(averageDurationMs)} per request`,
    ],
  ];
}

function describeProblems({ overloaded, unreachable, recentResponses }: StoredDomain['stats']): string {
  const failed = recentResponses.filter((response) => response !== 'ok' && response !== 'not-found').length;
  const counts = [
    ...(overloaded > 0 ? [`${overloaded} overloaded`] : []),
    ...(unreachable > 0 ? [`${unreachable} unreachable`] : []),
    ...(failed > 0 ? [`${failed} of the last ${recentResponses.length} requests failed`] : []),
  ];
  return counts.join(', ') || 'none';
}

function rows(facts: readonly Fact[]): string[] {
  const width = Math.max(...facts.map(([name]) => name.length));
  return facts.map(([name, value]) => `  ${name.padEnd(width)}  ${value}`.trimEnd());
}
