/** Orders are on record however they are sent: by Amble's own functions, by updates, or by a cancellation of the workflow. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { cancelCrawl, pauseCrawl, resumeCrawl } from '../../src/operator/crawl-orders.ts';
import { changeDomain, delayChange } from '../../src/operator/domain-orders.ts';
import { readDomainReport } from '../../src/operator/domains.ts';
import { listOrders } from '../../src/storage/orders.ts';
import { throttleId } from '../../workflows/ids.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const ANNA = { channel: 'api', by: 'Anna', reason: 'the owner asked' } as const;
const NOBODY = { channel: 'temporal', by: null, reason: null } as const;

let amble: Amble;
let web: TestWeb;
beforeAll(async () => {
  amble = await startAmble();
  web = await startWeb({ site: flatSite(6), other: flatSite(6) });
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

const operation = () => ({ client: amble.client, db: amble.db, config: amble.config });

async function ordersOf(filter: { crawlId: string } | { domain: string }) {
  const orders = await listOrders(amble.db, filter, 20);
  return orders
    .map(({ kind, channel, by, reason, effect }) => ({ kind, channel, by, reason, effect }))
    .toReversed();
}

async function openCrawl(host: string) {
  const crawl = await amble.start({ seeds: [web.url(host)], ...web.network, delay: '1h' });
  await expect
    .poll(() => amble.db.crawl.count({ where: { id: crawl.workflowId } }), { timeout: 20_000 })
    .toBe(1);
  return crawl;
}

it('records the orders of a crawl, given by function, by update, and by cancelling its workflow', async () => {
  const crawl = await openCrawl('site');
  const crawlId = crawl.workflowId;
  await pauseCrawl(operation(), crawlId, ANNA);
  await resumeCrawl(operation(), crawlId, ANNA);
  await crawl.executeUpdate('pause', { args: [{ reason: 'by hand' }] });
  await crawl.executeUpdate('resume');
  // As `temporal workflow cancel --reason` does.
  const { workflowService, options } = amble.client;
  await workflowService.requestCancelWorkflowExecution({
    namespace: options.namespace,
    workflowExecution: { workflowId: crawlId },
    identity: 'anna@laptop',
    reason: 'too slow',
  });
  await expect(crawl.result()).rejects.toThrow();
  expect(await ordersOf({ crawlId })).toEqual([
    { kind: 'pause', ...ANNA, effect: 'Running → Paused' },
    { kind: 'resume', ...ANNA, effect: 'Paused → Running' },
    { kind: 'pause', ...NOBODY, reason: 'by hand', effect: 'Running → Paused' },
    { kind: 'resume', ...NOBODY, effect: 'Paused → Running' },
    { kind: 'cancel', ...NOBODY, by: 'anna@laptop', reason: 'too slow', effect: 'Running → Cancelling' },
  ]);
  await expect(pauseCrawl(operation(), crawlId, ANNA)).rejects.toThrow(
    `Crawl ${crawlId} is Cancelled; only an unfinished crawl can be paused.`,
  );
  await expect(pauseCrawl(operation(), 'nobody', ANNA)).rejects.toThrow('There is no crawl named nobody.');
});

it('records a cancelled crawl once, with who cancelled it', async () => {
  const crawl = await openCrawl('site');
  const handle = await cancelCrawl(operation(), crawl.workflowId, ANNA);
  await expect(handle.result()).rejects.toThrow();
  expect(await ordersOf({ crawlId: crawl.workflowId })).toEqual([
    { kind: 'cancel', ...ANNA, effect: 'Running → Cancelling' },
  ]);
  const { status } = await amble.db.crawl.findUniqueOrThrow({ where: { id: crawl.workflowId } });
  expect(status).toBe('Cancelled');
});

it('cancels a crawl whose row says so, though nobody told its workflow', async () => {
  const crawl = await openCrawl('site');
  await amble.db.crawl.update({ where: { id: crawl.workflowId }, data: { status: 'Cancelling' } });
  expect(await crawl.result()).toMatchObject({ pages: { Cancelled: 1 } });
});

it('records the orders of a domain, given by function and by update, and says who paused it', async () => {
  const domain = web.name('other');
  await changeDomain(operation(), domain, { kind: 'pause' }, ANNA);
  const { pausedBy } = await readDomainReport(amble.db, amble.client, domain);
  expect(pausedBy).toMatchObject({ kind: 'pause', ...ANNA });
  const view = await changeDomain(operation(), domain, delayChange('5s-15s'), ANNA);
  expect(view.operatorDelay).toEqual({ minMs: 5_000, maxMs: 15_000 });
  const throttle = amble.client.workflow.getHandle(throttleId(domain));
  await throttle.executeUpdate('pause');
  await throttle.executeUpdate('setDelay', { args: ['1m'] });
  await expect(throttle.executeUpdate('pause', { args: ['Anna'] })).rejects.toMatchObject({
    cause: { message: expect.stringMatching(/^"Anna" does not say who gives the order: use /) },
  });
  await changeDomain(operation(), domain, { kind: 'reset' }, ANNA);
  expect(await ordersOf({ domain })).toEqual([
    { kind: 'pause', ...ANNA, effect: 'state open → paused' },
    { kind: 'delay', ...ANNA, effect: 'delay none → 5s-15s' },
    { kind: 'pause', ...NOBODY, effect: 'no change' },
    { kind: 'delay', ...NOBODY, effect: 'delay 5s-15s → 1m' },
    { kind: 'reset', ...ANNA, effect: 'state paused → open, delay 1m → none' },
  ]);
});
