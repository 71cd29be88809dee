/** Domains as people read them: a table of all, or everything about one. */
import { formatDelayRange } from '../../core/duration.ts';
import { formatDuration } from '../../core/format.ts';
import type { StoredDomain } from '../../core/slot-protocol.ts';
import {
  describeDomainState,
  describeGap,
  describePause,
  GAP_REASONS,
  nextAttempt,
  storedGap,
} from '../../operator/describe-domain.ts';
import type { DomainReport } from '../../operator/domains.ts';
import type { KnownDomain } from '../../storage/domains.ts';
import { nextSlotAt, type ThrottleView } from '../../throttle/view.ts';
import { formatAgo, formatClock, formatIn, formatPlural, renderTable } from './text.ts';

export function renderDomains(reports: readonly DomainReport[], now: Date): string[] {
  const headers = ['Domain', 'State', 'Gap', 'Reason', 'Reserved', 'Waiting', 'Last request', 'Response'];
  const rows = reports.map((report) => {
    const { live, known } = report;
    const gap = live ?? (known && storedGap(known.stored));
    const lastStart = known?.lastStart ?? null;
    const average = (live ?? known?.stored)?.stats.averageDurationMs ?? null;
    return [
      report.domain,
      describeDomainState(report, now),
      gap ? formatDuration(gap.gapMs) : '',
      gap ? GAP_REASONS[gap.gapReason] : '',
      live === null ? '' : live.reserved,
      live === null ? '' : live.waiting,
      lastStart === null ? '' : formatAgo(lastStart, now),
      average === null ? '' : formatDuration(average),
    ];
  });
  return renderTable(headers, rows);
}

export function renderDomain(report: DomainReport, now: Date): string[] {
  const { domain, live, known } = report;
  if (live !== null)
    return [
      `${domain}: ${describeDomainState(report, now)}`,
      ...rows([...pauseFacts(report, now), ...liveFacts(live, known?.lastStart ?? null, now)]),
    ];
  if (known === null) return [`${domain}: no crawl has requested anything from it yet`];
  return [
    `${domain}: ${describeDomainState(report, now)}`,
    ...rows([...pauseFacts(report, now), ...storedFacts(known, now)]),
    `  As stored at ${formatClock(known.writtenAt, now)}; its throttle is not running, or no worker answers for it.`,
  ];
}

type Fact = [name: string, value: string];

function pauseFacts({ pausedBy }: DomainReport, now: Date): Fact[] {
  if (!pausedBy) return [];
  return [['Paused', `at ${formatClock(pausedBy.givenAt, now)} ${describePause(pausedBy)}`]];
}

function liveFacts(view: ThrottleView, lastStart: number | null, now: Date): Fact[] {
  return [
    ['Gap', describeGap(view)],
    ...delayFacts(view.operatorDelay, view.crawlDelayMs, view.backoffMs, view.blockedUntil, now),
    ...view.outages.map((outage): Fact => outageFact(outage.origin, outage, now)),
    ...lastRequest(lastStart, now),
    ['Reserved', describeReserved(view, now)],
    ...view.leases.map(
      ({ workflowId, notBefore }): Fact => ['', `${workflowId}, ${formatSlotTime(notBefore, now)}`],
    ),
    ['Waiting', describeWaitingPages(view)],
    ...statFacts(view.stats),
  ];
}

function storedFacts({ stored, lastStart }: KnownDomain, now: Date): Fact[] {
  const { delay, crawlDelays, backoffMs, blockedUntil, outages } = stored;
  return [
    ['Gap', describeGap(storedGap(stored))],
    ...delayFacts(delay, Math.max(0, ...Object.values(crawlDelays)), backoffMs, blockedUntil, now),
    ...Object.entries(outages).map(([origin, outage]): Fact => outageFact(origin, outage, now)),
    ...lastRequest(lastStart, now),
    ...statFacts(stored.stats),
  ];
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

function describeReserved(view: ThrottleView, now: Date): string {
  if (view.reserved === 0) return 'none';
  const nextAt = nextSlotAt(view, now);
  return `${formatPlural(view.reserved, 'slot')}${nextAt === null ? '' : `; the next one ${formatIn(nextAt, now)}`}`;
}

function formatSlotTime(notBefore: number, now: Date): string {
  return notBefore > now.getTime()
    ? `at ${formatClock(notBefore, now)}`
    : `due since ${formatClock(notBefore, now)}`;
}

function describeWaitingPages({ waiting, phase }: ThrottleView): string {
  if (waiting === 0) return 'none';
  const until = phase === 'paused' ? '; no slots until the domain is resumed' : '';
  return `${formatPlural(waiting, 'page')} without a slot${until}`;
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
