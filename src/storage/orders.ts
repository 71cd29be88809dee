/** The record of orders. Orders about a domain or a crawl are written together with what they change. */
import type { CarriedOut, OperatorOrder, OrderKind, OrderOrigin } from '../core/order.ts';
import type { Database } from './database.ts';
import { type Order as OrderRow, Prisma } from './generated/client.ts';

/** What an order is about. Neither: everything. */
export interface OrderTarget {
  crawlId: string | null;
  domain: string | null;
}

export interface RecordedOrder extends OrderTarget, OrderOrigin {
  id: string;
  givenAt: Date;
  kind: OrderKind;
  effect: string;
}

/** An INSERT of one row, or of one for each row of `from`. `effect` may refer to its columns. */
export function insertOrder(
  { id, kind, origin }: OperatorOrder,
  { crawlId, domain }: OrderTarget,
  effect: Prisma.Sql,
  from: Prisma.Sql = Prisma.empty,
): Prisma.Sql {
  return Prisma.sql`
    INSERT INTO orders (id, kind, crawl_id, domain, channel, given_by, reason, effect)
    SELECT ${id}, ${kind}::order_kind, ${crawlId}, ${domain}, ${origin.channel}::order_channel, ${origin.by}, ${origin.reason},
           ${effect} ${from}
    ON CONFLICT (id) DO NOTHING`;
}

export function insertCarriedOut(order: CarriedOut, target: OrderTarget): Prisma.Sql {
  return insertOrder(order, target, Prisma.sql`${order.effect}`);
}

export interface OrderFilter {
  crawlId?: string;
  domain?: string;
  /** Only orders before this one, for the next part of a list. */
  before?: Pick<RecordedOrder, 'givenAt' | 'id'>;
}

/** The latest first. */
export async function listOrders(
  db: Database,
  { crawlId, domain, before }: OrderFilter,
  limit: number,
): Promise<RecordedOrder[]> {
  const rows = await db.order.findMany({
    where: {
      ...(crawlId !== undefined && { crawlId }),
      ...(domain !== undefined && { domain }),
      ...(before && {
        OR: [{ givenAt: { lt: before.givenAt } }, { givenAt: before.givenAt, id: { lt: before.id } }],
      }),
    },
    orderBy: [{ givenAt: 'desc' }, { id: 'desc' }],
    take: limit,
  });
  return rows.map(toOrder);
}

/** The order that paused a crawl or a domain which is paused now. null: there is none on record. */
export function readPauseOrder(
  db: Database,
  target: { crawlId: string } | { domain: string },
): Promise<RecordedOrder | null> {
  return readLastOrder(db, 'pause', target);
}

export async function readOrder(db: Database, id: string): Promise<RecordedOrder | null> {
  const row = await db.order.findUnique({ where: { id } });
  return row && toOrder(row);
}

export async function readLastOrder(
  db: Database,
  kind: OrderKind,
  target: { crawlId: string } | { domain: string },
): Promise<RecordedOrder | null> {
  const row = await db.order.findFirst({
    where: { ...target, kind },
    orderBy: { givenAt: 'desc' },
  });
  return row && toOrder(row);
}

function toOrder({ givenBy, ...row }: OrderRow): RecordedOrder {
  return { ...row, by: givenBy };
}
