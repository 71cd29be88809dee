/** What became of the last orders to retry pages of a crawl and to exclude URLs from it. */
import type { RecordedOrder } from '../../storage/orders.ts';
import { Ago, crawlAddress, FromWeb } from '../html/parts.tsx';

/** Orders that are looked through for them. */
export const MAX_RECENT_ORDERS = 50;

export function LastOrders({ orders, now }: { orders: readonly RecordedOrder[]; now: Date }) {
  const last = (['retry', 'exclude'] as const).flatMap(
    (kind) => orders.find((order) => order.kind === kind) ?? [],
  );
  return (
    <>
      {last.map((order) => (
        <p class="notice">
          <Ago at={order.givenAt} now={now} />: <FromWeb text={order.effect} />.{' '}
          <RetryProgressLink order={order} />
        </p>
      ))}
    </>
  );
}

/** Of an order to retry pages: to how far they are. */
export function RetryProgressLink({ order: { kind, crawlId, id } }: { order: RecordedOrder }) {
  if (kind !== 'retry' || crawlId === null) return null;
  return (
    <a href={`${crawlAddress(crawlId)}/retry?${new URLSearchParams({ order: id })}`}>How far they are</a>
  );
}
