import { expect, test } from 'vitest';
import type { OperatorOrder, OrderOrigin } from '../../src/core/order.ts';
import { applyCrawlOrder, endCrawl, readCrawl } from '../../src/storage/crawls.ts';
import { openDomain, readDomain, saveDomain } from '../../src/storage/domains.ts';
import { listOrders, readPauseOrder } from '../../src/storage/orders.ts';
import { newThrottle, toStoredDomain } from '../../src/throttle/index.ts';
import { CONFIG } from '../throttle/support.ts';
import { giveOrder, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();
const ORIGIN: OrderOrigin = { channel: 'cli', by: 'anna', reason: 'the owner asked' };

function order<K extends OperatorOrder['kind']>(id: string, kind: K) {
  return { id, kind, origin: ORIGIN };
}

test('an order about a crawl is recorded with what it changed', async () => {
  const { id } = await startCrawl(db());
  await applyCrawlOrder(db(), id, order(`${id}-1`, 'pause'));
  await applyCrawlOrder(db(), id, order(`${id}-2`, 'pause'));
  const [second, first] = await listOrders(db(), { crawlId: id }, 10);
  expect(first).toMatchObject({
    kind: 'pause',
    crawlId: id,
    domain: null,
    effect: 'Running → Paused',
    ...ORIGIN,
  });
  expect(second?.effect).toBe('no change');
  expect(await readPauseOrder(db(), { crawlId: id })).toEqual(second);
});

test('an order that is sent again changes nothing, even if others came in between', async () => {
  const { id } = await startCrawl(db());
  const pause = order(`${id}-1`, 'pause');
  expect(await applyCrawlOrder(db(), id, pause)).toBe(true);
  expect(await giveOrder(db(), id, 'resume')).toBe(true);
  expect(await applyCrawlOrder(db(), id, pause)).toBe(false);
  expect((await readCrawl(db(), id)).status).toBe('Running');
  expect(await listOrders(db(), { crawlId: id }, 10)).toHaveLength(2);
});

test('an order that a crawl does not accept is not recorded', async () => {
  const { id } = await startCrawl(db());
  await endCrawl(db(), id, 'Completed', null);
  for (const kind of ['pause', 'resume', 'cancel'] as const)
    expect(await giveOrder(db(), id, kind)).toBe(false);
  expect(await giveOrder(db(), 'unknown', 'pause')).toBe(false);
  expect(await listOrders(db(), { crawlId: id }, 10)).toEqual([]);
});

test('orders about a domain are recorded with its state, or not at all', async () => {
  const stored = { ...toStoredDomain(newThrottle('a.test', CONFIG)), paused: true };
  const { epoch } = await openDomain(db(), 'a.test');
  const pause = { ...order('a-1', 'pause'), effect: 'state open → paused' };
  await saveDomain(db(), 'a.test', epoch - 1, stored, [pause]);
  expect(await listOrders(db(), { domain: 'a.test' }, 10)).toEqual([]);
  for (const _ of ['once', 'again']) await saveDomain(db(), 'a.test', epoch, stored, [pause]);
  expect(await readDomain(db(), 'a.test')).toMatchObject({ stored: { paused: true } });
  expect(await listOrders(db(), { domain: 'a.test' }, 10)).toMatchObject([
    { id: 'a-1', crawlId: null, domain: 'a.test' },
  ]);
});

test('a list continues after the last order of its previous part', async () => {
  const { id } = await startCrawl(db());
  // Several in one millisecond.
  for (const _ of [1, 2, 3, 4, 5]) await giveOrder(db(), id, 'pause');
  const all = await listOrders(db(), { crawlId: id }, 10);
  const [first, second] = await listOrders(db(), { crawlId: id }, 2);
  expect(second).toBeDefined();
  const rest = second && (await listOrders(db(), { crawlId: id, before: second }, 10));
  expect([first, second, ...(rest ?? [])]).toEqual(all);
});
