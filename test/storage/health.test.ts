/** What Health reads from Postgres: workers that report themselves, and crawls that are silent. */
import { expect, test } from 'vitest';
import { readOpenCrawls } from '../../src/storage/reports/silent-crawls.ts';
import { forgetWorker, readWorkers, reportWorker } from '../../src/storage/workers.ts';
import { failure, inOneHour, numbered, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

const WORKER = {
  ...{ identity: '7@host', startedAt: new Date(), openFetches: 3, waitingFetches: 1 },
  ...{ eventLoopLagMs: 12, unavailable: ['Content store'] },
};

test('a worker is listed with its last report until it stops or has been silent for a minute', async () => {
  await reportWorker(db(), { ...WORKER, openFetches: 9 });
  await reportWorker(db(), WORKER);
  const [worker, ...others] = await readWorkers(db());
  expect(others).toEqual([]);
  expect(worker).toMatchObject(WORKER);
  expect(Math.abs(worker?.clockOffsetMs ?? Number.NaN)).toBeLessThan(60_000);
  await db().$executeRaw`UPDATE workers SET seen_at = now() - interval '61 seconds'`;
  expect(await readWorkers(db())).toEqual([]);
  await reportWorker(db(), WORKER);
  await forgetWorker(db(), WORKER.identity);
  expect(await readWorkers(db())).toEqual([]);
});

test('an open crawl has its due pages and the time of the last page that ended', async () => {
  const crawl = await startCrawl(db(), { window: 3, maxWaiting: 0 });
  await crawl.add(...numbered(10));
  const [done, retried] = await crawl.admit();
  await crawl.record(done);
  await crawl.record(retried, { report: failure(), retryAt: inOneHour() });
  const find = async () => (await readOpenCrawls(db())).find(({ id }) => id === crawl.id);
  expect(await find()).toMatchObject({ status: 'Running', open: 9, due: 8 });
  expect((await find())?.lastDoneAt.getTime()).toBeGreaterThan(Date.now() - 60_000);
});
