/** Orders as people read them. */
import { describeOrigin } from '../../core/order.ts';
import { describePreview, type ExcludePreview } from '../../storage/frontier/exclude.ts';
import type { RetryPreview } from '../../storage/frontier/retry.ts';
import type { RecordedOrder } from '../../storage/orders.ts';
import { formatClock, formatPlural, renderTable } from './text.ts';

export function renderOrders(orders: readonly RecordedOrder[], now: Date): string[] {
  const headers = ['Time', 'Order', 'About', 'By', 'Channel', 'Change', 'Reason'];
  const rows = orders.map((order) => [
    formatClock(order.givenAt, now),
    order.kind,
    order.crawlId ?? order.domain ?? 'everything',
    order.by ?? '',
    order.channel,
    order.effect,
    order.reason ?? '',
  ]);
  return renderTable(headers, rows);
}

export function renderStop(order: RecordedOrder, now: Date): string {
  return `Everything was stopped at ${formatClock(order.givenAt, now)} ${describeOrigin(order)}. No request is sent.`;
}

export function renderExcludePreview(preview: ExcludePreview): string[] {
  return [`This would reject ${describePreview(preview)}.`, ...preview.examples.map((url) => `  ${url}`)];
}

export function renderRetryPreview(crawlId: string, { pages, samples }: RetryPreview): string[] {
  return [
    `${formatPlural(pages, 'failed page')} of crawl ${crawlId} would be retried.`,
    ...samples.map(({ url, reason }) => `  ${url}  ${reason ?? ''}`.trimEnd()),
  ];
}
