import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, expect, test } from 'vitest';
import type { Entry } from '../../src/core/gate.ts';
import type { OperatorOrder } from '../../src/core/order.ts';
import { openDomain } from '../../src/storage/domains.ts';
import { admitDue } from '../../src/storage/frontier/sweep.ts';
import { leaveGate, passGate } from '../../src/storage/gate.ts';
import { claimPolitenessKey } from '../../src/storage/installation.ts';
import { listOrders } from '../../src/storage/orders.ts';
import { readFetchContext } from '../../src/storage/pages/fetch-context.ts';
import { touchPage } from '../../src/storage/pages/touch-page.ts';
import { countStarting, liftStop, readStop, stopEverything } from '../../src/storage/stop.ts';
import { giveOrder, numbered, readingOf, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

function newOrder(kind: 'stop' | 'resume', reason: string | null = null): OperatorOrder {
  return { id: randomUUID(), kind, origin: { channel: 'cli', by: 'anna', reason } };
}

const ENTRY: Entry = {
  ...{ leaseId: 'one', passId: 'a run', origin: 'http://a.test', version: 0, minGapMs: 0, delayAfterMs: 0 },
  ...{ concurrency: 5, startWithinMs: 10_000, maxFetchMs: 60_000, repeatable: false },
};

beforeEach(() => claimPolitenessKey(db(), 'host'));
afterEach(async () => {
  await liftStop(db(), newOrder('resume'));
  await db().domain.deleteMany();
});

test('nothing is admitted, and pages in progress return to the frontier with their share of the budget', async () => {
  const crawl = await startCrawl(db(), { window: 5, maxPages: 10, sitemaps: true });
  await crawl.add(...numbered(2));
  const [page] = await crawl.admit();
  await stopEverything(db(), newOrder('stop', 'a complaint'));
  await crawl.add('http://b.test/');
  expect(await admitDue(db(), crawl.id, crawl.settings, 'while-stopped')).toEqual([]);
  const reader = { domain: 'a.test', agent: 'amble' };
  const context = { crawlId: crawl.id, pageId: page?.pageId ?? '', url: page?.url ?? '', reader };
  expect(await readFetchContext(db(), context)).toMatchObject({ crawlStatus: 'Stopped' });
  expect(await touchPage(db(), page?.pageId ?? '', 1_000)).toEqual({ continues: false, crawlOver: false });
  expect(await crawl.page(page?.url ?? '')).toMatchObject({
    status: 'Pending',
    reason: 'everything is stopped',
  });
  expect(await crawl.reserved()).toBe(1);

  expect(await liftStop(db(), newOrder('resume'))).toBe(true);
  expect(await admitDue(db(), crawl.id, crawl.settings, 'resumed')).toHaveLength(2);
});

test('what was paused or being cancelled before is so afterwards', async () => {
  const [paused, cancelled] = [await startCrawl(db()), await startCrawl(db())];
  await giveOrder(db(), paused.id, 'pause');
  await giveOrder(db(), cancelled.id, 'cancel');
  const statuses = () => db().crawl.findMany({ select: { id: true, status: true }, orderBy: { id: 'asc' } });
  const before = await statuses();
  await stopEverything(db(), newOrder('stop'));
  await liftStop(db(), newOrder('resume'));
  expect(await statuses()).toEqual(before);
});

test('no request passes a gate, and one that has passed is waited for', async () => {
  await openDomain(db(), 'a.test');
  expect(await passGate(db(), 'a.test', ENTRY)).toMatchObject({ kind: 'go' });
  await stopEverything(db(), newOrder('stop'));
  expect(await countStarting(db())).toBe(1);
  const refused = { kind: 'void', reason: 'everything is stopped' };
  expect(await passGate(db(), 'a.test', { ...ENTRY, leaseId: 'two' })).toMatchObject(refused);
  // Its report is accepted all the same.
  await leaveGate(db(), 'a.test', ENTRY, { kind: 'started', agoMs: 0 });
  expect(await countStarting(db())).toBe(0);
  await liftStop(db(), newOrder('resume'));
  const next = async () => (await passGate(db(), 'a.test', { ...ENTRY, leaseId: 'two' })).kind;
  await expect.poll(next).toBe('go');
});

test('a request that read its gate before the order does not pass after it', async () => {
  await openDomain(db(), 'late.test');
  const known = await readingOf(db(), 'late.test');
  await stopEverything(db(), newOrder('stop'));
  const refused = { kind: 'void', reason: 'everything is stopped' };
  expect(await passGate(db(), 'late.test', ENTRY, known)).toMatchObject(refused);
  expect(await countStarting(db())).toBe(0);
});

test('an order waits for requests that are passing a gate, and those behind it see the order', async () => {
  await openDomain(db(), 'busy.test');
  let stopping = Promise.resolve();
  let passing: ReturnType<typeof passGate> | null = null;
  const waiting = async () =>
    (
      await db().$queryRaw<unknown[]>`SELECT 1 FROM pg_locks WHERE NOT granted AND database =
      (SELECT oid FROM pg_database WHERE datname = current_database())`
    ).length;
  await db().inTransaction(async (tx) => {
    await tx.$executeRaw`UPDATE domains SET revision = revision WHERE name = 'busy.test'`;
    stopping = stopEverything(db(), newOrder('stop'));
    await expect.poll(waiting).toBe(1);
    expect(await readStop(db())).toBeNull();
    // It has read that nothing is stopped.
    passing = passGate(db(), 'busy.test', ENTRY);
    await expect.poll(waiting).toBe(2);
  });
  await stopping;
  expect(await passing).toMatchObject({ kind: 'void', reason: 'everything is stopped' });
  expect(await countStarting(db())).toBe(0);
});

test('the order can be read while it holds, and both are on record', async () => {
  const stop = newOrder('stop', 'a complaint');
  await stopEverything(db(), stop);
  expect(await readStop(db())).toMatchObject({ id: stop.id, by: 'anna', reason: 'a complaint' });
  await stopEverything(db(), newOrder('stop', 'two complaints'));
  expect(await readStop(db())).toMatchObject({
    reason: 'two complaints',
    effect: 'no change',
  });
  expect(await liftStop(db(), newOrder('resume'))).toBe(true);
  expect(await liftStop(db(), newOrder('resume'))).toBe(false);
  expect(await readStop(db())).toBeNull();
  const kinds = (await listOrders(db(), {}, 3)).map(({ kind }) => kind);
  expect(kinds.sort()).toEqual(['resume', 'stop', 'stop']);
});
