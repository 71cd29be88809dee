/** The health of an installation on a terminal: facts first, then findings with their cures. */
import { formatDuration, formatOffset, formatSize } from '../../core/format.ts';
import type { HealthReport } from '../../operator/health.ts';
import { contentStoreState } from '../../reports/health-findings.ts';
import { formatAgo, formatPlural, indent, renderTable } from './text.ts';

export function renderHealth(report: HealthReport, now: Date): string[] {
  const { findings, workers, backlog, crawls } = report;
  return [
    ...dependencyLines(report),
    ...(workers && workers.length > 0
      ? [
          '',
          ...indent(
            renderTable(
              ['Worker', 'Started', 'Seen', 'Fetches', 'Waiting', 'Event loop lag', 'Clock', 'Cannot reach'],
              workers.map((worker) => [
                worker.identity,
                formatAgo(worker.startedAt.getTime(), now),
                formatAgo(worker.seenAt.getTime(), now),
                worker.openFetches,
                worker.waitingFetches,
                formatDuration(worker.eventLoopLagMs),
                formatOffset(worker.clockOffsetMs),
                worker.unavailable.join(', '),
              ]),
            ),
          ),
        ]
      : []),
    ...(backlog
      ? [
          '',
          ...indent(
            renderTable(
              ['Task queue', 'Backlog', 'Oldest task'],
              backlog.map(({ queue, tasks, oldestMs }) => [
                queue,
                tasks,
                oldestMs === 0 ? '–' : formatDuration(oldestMs),
              ]),
            ),
          ),
        ]
      : []),
    ...(crawls && crawls.length > 0
      ? [
          '',
          ...indent(
            renderTable(
              ['Open crawl', 'Status', 'Open', 'Due', 'Last page', 'Waits for'],
              crawls.map((crawl) => [
                crawl.id,
                crawl.status,
                crawl.open,
                crawl.due,
                formatAgo(crawl.lastDoneAt.getTime(), now),
                crawl.waitsFor ?? '',
              ]),
            ),
          ),
        ]
      : []),
    '',
    ...findings.flatMap(({ level, what, cure }) => [
      `${level === 'bad' ? 'Problem' : 'Warning'}: ${what}`,
      `  ${cure}`,
    ]),
    findings.length === 0 ? 'Nothing is wrong.' : `${formatPlural(findings.length, 'finding')}.`,
  ];
}

function dependencyLines(report: HealthReport): string[] {
  const { postgresError, temporalError, clockOffsetMs, databaseBytes, workers } = report;
  const size = databaseBytes === null ? '' : ` (${formatSize(databaseBytes)})`;
  const state = (error: string | null) => (error === null ? 'available' : `unavailable: ${error}`);
  return [
    `  Postgres       ${state(postgresError)}${size}`,
    `  Temporal       ${state(temporalError)}`,
    `  Content store  ${describeStore(report)}`,
    ...(clockOffsetMs === null
      ? []
      : [
          `  Clock          ${formatDuration(Math.abs(clockOffsetMs))} ${clockOffsetMs < 0 ? 'behind' : 'ahead of'} Postgres`,
        ]),
    ...(workers === null ? [] : [`  Workers        ${workers.length}`]),
  ];
}

function describeStore(report: HealthReport): string {
  const { name, error, isBucket, freeBytes, sizeBytes } = report.contentStore;
  const free =
    freeBytes === null || sizeBytes === null
      ? ''
      : `, ${formatSize(freeBytes)} of ${formatSize(sizeBytes)} free`;
  const why = error === null ? '' : `: ${error}`;
  return `${contentStoreState(report)}${why} (${name}${isBucket ? ', as workers report' : ''}${free})`;
}
