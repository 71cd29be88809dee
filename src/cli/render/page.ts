/** Everything about one page: its state, the reason for it, its redirects and its attempts. */
import { formatDuration } from '../../core/format.ts';
import { describePage, type PageContext } from '../../operator/describe-page.ts';
import type { PageReport } from '../../storage/reports/page-report.ts';
import { formatClock, indent, renderTable } from './text.ts';

export function renderPageReport(report: PageReport, context: PageContext, now: Date): string[] {
  const { page, crawl, alsoIn } = report;
  return [
    page.url,
    `  Crawl     ${crawl.id} (${crawl.status})${alsoIn.length > 0 ? `; also in ${alsoIn.join(', ')}` : ''}`,
    `  Domain    ${page.domain}`,
    `  Found     ${page.isSeed ? 'as a seed' : `at depth ${page.depth}`}, priority ${page.priority}`,
    ...chainLines(report),
    `  Now       ${page.status}: ${describePage(report, context, now)}`,
    ...(context.work?.active === false ? [`            The crawl is stalled: ${context.work.reason}.`] : []),
    ...(report.attempts.length === 0 ? ['  Attempts  none yet'] : ['', ...attemptTable(report, now)]),
  ];
}

/** `a -> b -> this page -> c`, one line per step; pages that redirect to the same target share a line. */
function chainLines({ page, chain }: PageReport): string[] {
  if (chain.length === 0) return [];
  const steps = new Map<number, string[]>();
  for (const { url, step } of [...chain, { url: `${page.url} (this page)`, step: 0 }])
    steps.set(step, [...(steps.get(step) ?? []), url]);
  const inOrder = [...steps].sort(([one], [other]) => one - other).map(([, urls]) => urls.join(', '));
  return inOrder.map((urls, at) => (at === 0 ? `  Redirects ${urls}` : `            -> ${urls}`));
}

function attemptTable({ attempts, crawl }: PageReport, now: Date): string[] {
  const rows = attempts.map((attempt) => [
    `${attempt.attempt} of ${crawl.maximumAttempts}`,
    attempt.startedAt === null ? 'not sent' : formatClock(attempt.startedAt, now),
    formatDuration(attempt.slotWaitMs),
    attempt.latencyMs === null ? '' : formatDuration(attempt.latencyMs),
    attempt.statusCode === null ? '' : String(attempt.statusCode),
    attempt.outcome,
    attempt.nextAttemptAt === null
      ? ''
      : `${formatClock(attempt.nextAttemptAt, now)} (${formatDuration(attempt.nextAttemptAt.getTime() - attempt.finishedAt.getTime())} later)`,
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
  return indent(renderTable(headers, rows));
}
