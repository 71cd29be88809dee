/** Failed pages are retried on an operator's order: of a crawl that has ended, and of one that runs. */
import { afterAll, beforeAll, expect, it } from 'vitest';
import { parseCause, retryPages } from '../../src/operator/retry-orders.ts';
import { readRetryProgress } from '../../src/storage/frontier/retry.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { expectPolite } from '../support/expect-polite.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const ANNA = { channel: 'api', by: 'Anna', reason: 'the site is repaired' } as const;

let amble: Amble;
let web: TestWeb;
let broken = true;
beforeAll(async () => {
  amble = await startAmble({ tuning: { throttle: { maxBackoffMs: 10 } } });
  const odd = (path: string) => broken && /[13]$/.test(path);
  web = await startWeb({
    site: flatSite(4, (path) => (odd(path) ? { status: 503 } : undefined)),
    live: flatSite(4, (path) => (odd(path) ? { status: 503 } : undefined)),
  });
});
afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

const operation = () => ({ client: amble.client, db: amble.db, config: amble.config });

const inputFor = (host: string) => ({
  seeds: [web.url(host)],
  ...web.network,
  delay: '20ms',
  retry: { initialInterval: '50ms', maximumAttempts: 2 },
});

it('a crawl that has ended continues with its failed pages, and keeps their attempts', async () => {
  const { crawlId, pages } = await amble.crawl(inputFor('site'));
  expect(pages).toEqual({ Fetched: 3, Failed: 2 });

  // Still broken: each gets as many attempts as a new page.
  const still = await retryPages(operation(), crawlId, parseCause('status/503'), ANNA);
  expect(still.pages).toBe(2);
  expect(await amble.client.workflow.getHandle(crawlId).result()).toMatchObject({
    pages: { Fetched: 3, Failed: 2 },
  });
  expect(web.arrivalsAt('site', '/1')).toHaveLength(4);

  broken = false;
  const order = await retryPages(operation(), crawlId, { domain: web.name('site') }, ANNA);
  expect(await amble.client.workflow.getHandle(crawlId).result()).toMatchObject({ pages: { Fetched: 5 } });
  expect(await readRetryProgress(amble.db, order.id)).toMatchObject({
    pages: 2,
    done: 2,
    byStatus: { Fetched: 2 },
  });
  const attempts = await amble.db.pageCrawl.findMany({
    where: { page: { crawlId, url: web.url('site', '/1') } },
    orderBy: { attempt: 'asc' },
  });
  expect(attempts.map(({ attempt, outcome }) => `${attempt} ${outcome}`)).toEqual([
    ...['1 Blocked5xx', '2 Blocked5xx', '3 Blocked5xx', '4 Blocked5xx', '5 Success'],
  ]);
  await expectPolite(amble.db);
});

it('a crawl that runs takes its failed pages in again', async () => {
  broken = true;
  // Its last page is not reached while the test looks.
  const crawl = await amble.start({
    ...inputFor('live'),
    seeds: [web.url('live'), 'http://127.0.0.1:9/later'],
  });
  const crawlId = crawl.workflowId;
  const failed = () =>
    amble.db.page.count({ where: { crawlId, status: 'Failed', url: { startsWith: web.url('live') } } });
  await expect.poll(failed, { timeout: 20_000 }).toBe(2);
  broken = false;
  const { id, pages } = await retryPages(operation(), crawlId, parseCause('status'), ANNA);
  expect(pages).toBe(2);
  const progress = () => readRetryProgress(amble.db, id);
  await expect
    .poll(progress, { timeout: 20_000 })
    .toMatchObject({ pages: 2, done: 2, byStatus: { Fetched: 2 } });
  await crawl.cancel();
});

it.each(['', 'Status 503', 'status/5', '../x'])('refuses %j as a cause', (typed) => {
  expect(() => parseCause(typed)).toThrow(
    /^Invalid cause ".*": give a kind of error such as timeout, or status\/503\.$/,
  );
});
