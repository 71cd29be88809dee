/** Where a part of the list of orders ends: the time and the id of its last order. */
import { BadInput } from '../core/errors.ts';
import type { RecordedOrder } from '../storage/orders.ts';

export const ORDERS_CURSOR = /^([12]\d{3}-\d\d-\d\dT[\d:.]+Z)~([\w/.:~-]{1,200})$/;

/** null: the list ends with these. */
export function nextOrders(orders: readonly RecordedOrder[], limit: number): string | null {
  const last = orders.at(-1);
  return last === undefined || orders.length < limit ? null : `${last.givenAt.toISOString()}~${last.id}`;
}

/** Throws BadInput. */
export function parseOrdersCursor(text: string): Pick<RecordedOrder, 'givenAt' | 'id'> {
  const [, at, id] = ORDERS_CURSOR.exec(text) ?? [];
  const givenAt = new Date(at ?? '');
  if (id === undefined || Number.isNaN(givenAt.getTime()))
    throw new BadInput('"after" is not the end of another part of the list.');
  return { givenAt, id };
}
