/** Orders: who changed what, when, how and why. */

import { parseDomain } from '../../operator/domains.ts';
import { listOrders, type RecordedOrder } from '../../storage/orders.ts';
import { Ago, CrawlLink, FromWeb, Live, Table } from '../html/parts.tsx';
import { nextOrders, parseOrdersCursor } from '../orders-cursor.ts';
import { defineView } from '../view.ts';
import { RetryProgressLink } from './crawl-orders.tsx';

interface Orders {
  crawl: string | null;
  domain: string | null;
  orders: RecordedOrder[];
  /** For the next part of the list. null: this is the last. */
  next: string | null;
}

const MAX_ORDERS = 100;

export const ordersView = defineView<Orders>({
  path: '/orders',
  nav: 'Orders',
  title: () => 'Orders',
  async load({ services: { db, config }, query }) {
    const [crawl, typed, after] = ['crawl', 'domain', 'after'].map((name) => query.get(name)?.trim() || null);
    const domain = typed && parseDomain(typed, config.politenessKey);
    const filter = {
      ...(crawl && { crawlId: crawl }),
      ...(domain && { domain }),
      ...(after && { before: parseOrdersCursor(after) }),
    };
    const orders = await listOrders(db, filter, MAX_ORDERS);
    return { crawl: crawl ?? null, domain: domain ?? null, orders, next: nextOrders(orders, MAX_ORDERS) };
  },
  render({ crawl, domain, orders, next }, now) {
    return (
      <>
        <div class="head">
          <h1>Orders</h1>
          <form class="actions" action="/orders">
            <input
              name="crawl"
              value={crawl ?? ''}
              placeholder="Crawl"
              aria-label="Only orders about this crawl"
            />
            <input
              name="domain"
              value={domain ?? ''}
              placeholder="Domain"
              aria-label="Only orders about this domain"
            />
            <button type="submit">Show</button>
          </form>
        </div>
        <Live id="orders">
          <Table
            caption="Orders, the latest first"
            rows={orders}
            rowId={({ id }) => `order-${id}`}
            empty="No orders on record."
            columns={[
              { head: 'Time', cell: ({ givenAt }) => <Ago at={givenAt} now={now} /> },
              { head: 'Order', cell: ({ kind }) => kind },
              { head: 'About', cell: (order) => <Target order={order} /> },
              { head: 'By', cell: ({ by }) => by && <FromWeb text={by} /> },
              { head: 'Channel', cell: ({ channel }) => channel },
              {
                head: 'Change',
                cell: (order) => (
                  <>
                    <FromWeb text={order.effect} /> <RetryProgressLink order={order} />
                  </>
                ),
              },
              { head: 'Reason', cell: ({ reason }) => reason && <FromWeb text={reason} /> },
            ]}
          />
        </Live>
        {next !== null && (
          <p>
            <a
              href={`/orders?${new URLSearchParams({ crawl: crawl ?? '', domain: domain ?? '', after: next })}`}
            >
              Older orders
            </a>
          </p>
        )}
      </>
    );
  },
});

function Target({ order: { crawlId, domain } }: { order: RecordedOrder }) {
  if (crawlId !== null) return <CrawlLink id={crawlId} />;
  if (domain !== null) return <a href={`/domains/${encodeURIComponent(domain)}`}>{domain}</a>;
  return <>everything</>;
}
