/** Orders that change rows are carried out while Temporal is unavailable. */
import { Client, Connection } from '@temporalio/client';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pauseCrawl, resumeCrawl } from '../../src/operator/crawl-orders.ts';
import { excludePattern } from '../../src/operator/exclude-orders.ts';
import { retryPages } from '../../src/operator/retry-orders.ts';
import { resumeAll, stopAll } from '../../src/operator/stop-orders.ts';
import { findCrawl } from '../../src/storage/crawls.ts';
import { readStop } from '../../src/storage/stop.ts';
import { createInterceptors } from '../../src/temporal/connection.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { flatSite, startWeb, type TestWeb } from '../support/web.ts';

const ANNA = { channel: 'api', by: 'Anna', reason: null } as const;

/** More than one batch. */
const FAILED = 1_200;

let amble: Amble;
let web: TestWeb;
let connection: Connection;
beforeAll(async () => {
  amble = await startAmble();
  web = await startWeb({ slow: flatSite(5), one: flatSite(0) });
  connection = Connection.lazy({ address: '127.0.0.1:1', interceptors: createInterceptors() });
});
afterAll(async () => {
  await connection?.close();
  await amble?.stop();
  await web?.stop();
});

const alone = () => ({ client: new Client({ connection }), db: amble.db, config: amble.config });
const statusOf = async (crawlId: string) => (await findCrawl(amble.db, crawlId))?.status;

it('a crawl is paused and resumed, URLs are excluded, and a stop is lifted', async () => {
  const crawlId = 'orders-alone';
  await amble.start({ seeds: [web.url('slow')], ...web.network, delay: '5s' }, crawlId);
  await expect.poll(() => amble.db.page.count({ where: { crawlId } }), { timeout: 20_000 }).toBe(6);
  await pauseCrawl(alone(), crawlId, ANNA);
  expect(await statusOf(crawlId)).toBe('Paused');
  await resumeCrawl(alone(), crawlId, ANNA);
  expect(await statusOf(crawlId)).toBe('Running');
  expect(await excludePattern(alone(), crawlId, '/3', ANNA)).toBeLessThanOrEqual(1);
  await stopAll(alone(), ANNA);
  await resumeAll(alone(), ANNA);
  expect(await readStop(amble.db)).toBeNull();
});

it('all failed pages of a crawl that has ended are queued, and the order says that it does not run yet', async () => {
  const { crawlId } = await amble.crawl({ seeds: [web.url('one')], ...web.network });
  await amble.db.page.createMany({
    data: Array.from({ length: FAILED }, (_, n) => {
      const url = `http://127.0.0.1:9/${n}`;
      return { crawlId, url, urlHash: Buffer.from(url), domain: '127.0.0.1', status: 'Failed' as const };
    }),
  });
  await expect(retryPages(alone(), crawlId, {}, ANNA)).rejects.toThrow(
    `The pages are queued again, but Temporal is unavailable, and crawl ${crawlId} had ended`,
  );
  expect(await amble.db.page.count({ where: { crawlId, status: 'Pending' } })).toBe(FAILED);
  expect(await statusOf(crawlId)).toBe('Running');

  await retryPages({ ...alone(), client: amble.client }, crawlId, {}, ANNA);
  const { status } = await amble.client.workflow.getHandle(crawlId).describe();
  expect(status.name).toBe('RUNNING');
});
