/** How many rows reports read, as Postgres counts them, of a crawl with 100,000 pages on one domain and 2,000 small domains. */
import { afterAll, beforeAll, expect, test } from 'vitest';
import { readCrawlReport } from '../../src/reports/crawl-report.ts';
import { readDomainDetail } from '../../src/reports/domain-detail.ts';
import { proveDomain } from '../../src/reports/domain-proof.ts';
import { readSiteTreatment } from '../../src/reports/site-treatment.ts';
import { foldChanges } from '../../src/storage/counts.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { countDomains, listDomains } from '../../src/storage/domains.ts';
import { previewExclude } from '../../src/storage/frontier/exclude.ts';
import { previewRetry, readRetryProgress } from '../../src/storage/frontier/retry.ts';
import type { Page } from '../../src/storage/generated/client.ts';
import { listOrders } from '../../src/storage/orders.ts';
import { readCauses } from '../../src/storage/reports/causes.ts';
import { readLinkCounts, readSamples } from '../../src/storage/reports/counts.ts';
import { findPage } from '../../src/storage/reports/find-page.ts';
import { readOverview } from '../../src/storage/reports/overview.ts';
import { readPageContent } from '../../src/storage/reports/page-content.ts';
import { findListedPage, listPages } from '../../src/storage/reports/page-list.ts';
import { readPage } from '../../src/storage/reports/page-report.ts';
import { readDomains, readProgress } from '../../src/storage/reports/progress.ts';
import { readRemaining } from '../../src/storage/reports/remaining.ts';
import { readRequestHistory } from '../../src/storage/reports/request-history.ts';
import { readOpenCrawls } from '../../src/storage/reports/silent-crawls.ts';
import { freshDatabase, type TestDatabase } from '../support/engines.ts';
import { numbered, startCrawl, type TestCrawl } from './support.ts';

const BIG = 100_000;
const DOMAINS = 2_000;
const ORDERS = 10_000;

let database: TestDatabase;
let db: Database;
let crawl: TestCrawl;
let linkedPage: Page;

beforeAll(async () => {
  database = await freshDatabase();
  // One connection, so that its own reads can be queried, and no parallel workers, which report theirs too late.
  const url = new URL(database.url);
  url.searchParams.set('options', '-c max_parallel_workers_per_gather=0');
  db = openDatabase(url.href, { connections: 1, forReports: true });
  crawl = await startCrawl(db, { seeds: ['http://big.test/'], window: 10 });
  await fill();
  await foldChanges(db, crawl.id);
  await db.$executeRaw`VACUUM ANALYZE`;
});

afterAll(async () => {
  await db?.$disconnect();
  await database?.drop();
});

/** A third of the pages have failed, a third were fetched. */
async function fill(): Promise<void> {
  await db.$executeRaw`
    INSERT INTO pages (crawl_id, domain, url, url_hash)
    SELECT ${crawl.id}, domain, url, sha256(convert_to(url, 'UTF8'))
    FROM (SELECT 'big.test' AS domain, 'http://big.test/' || n AS url FROM generate_series(1, ${BIG}::int) n
          UNION ALL
          SELECT 'd' || n || '.test', 'http://d' || n || '.test/' FROM generate_series(1, ${DOMAINS}::int) n) AS page`;
  await db.$executeRaw`
    UPDATE pages SET status = 'Failed', error_kind = 'status', status_code = 400 + id % 5 WHERE crawl_id = ${crawl.id} AND id % 3 = 0`;
  await db.$executeRaw`
    UPDATE pages SET status = 'Fetched', links_found = 10, links_skipped = '{"out of scope": 3}'
    WHERE crawl_id = ${crawl.id} AND id % 3 = 1`;
  await db.$executeRaw`
    UPDATE pages SET retry_id = 'retry' WHERE crawl_id = ${crawl.id} AND status <> 'Pending'`;
  await db.$executeRaw`
    INSERT INTO page_crawls (page_id, attempt, outcome, finished_at, slot_wait_ms)
    SELECT id, 1, 'Success', now(), 0 FROM pages WHERE crawl_id = ${crawl.id} AND status = 'Fetched'`;
  await db.$executeRaw`
    INSERT INTO domains (name, paused) SELECT 'd' || n || '.test', n <= 10 FROM generate_series(1, ${DOMAINS}::int) n`;
  await db.$executeRaw`
    INSERT INTO orders (id, kind, crawl_id, channel, effect)
    SELECT 'order-' || n, 'pause', ${crawl.id}, 'cli', 'done' FROM generate_series(1, ${ORDERS}::int) n`;
  linkedPage = await db.page.findFirstOrThrow({ where: { url: 'http://big.test/1' } });
  await db.$executeRaw`
    INSERT INTO links (page_id, url_hash, url)
    SELECT ${linkedPage.id}, sha256(convert_to(n::text, 'UTF8')), 'http://big.test/' || n FROM generate_series(1, 1000) n`;
  await db.$executeRaw`
    INSERT INTO links (page_id, url_hash, url)
    SELECT id, ${linkedPage.urlHash}, ${linkedPage.url} FROM pages WHERE crawl_id = ${crawl.id} AND status = 'Fetched'`;
}

/** Rows of all tables, and entries of their indexes. */
async function rowsReadBy(act: () => Promise<unknown>): Promise<number> {
  const before = await rowsReadSoFar();
  await act();
  return (await rowsReadSoFar()) - before;
}

async function rowsReadSoFar(): Promise<number> {
  await db.$queryRaw`SELECT pg_stat_force_next_flush()`;
  const [row] = await db.$queryRaw<{ rows: number }[]>`
    SELECT ((SELECT sum(seq_tup_read) FROM pg_stat_user_tables) + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes))::float8 AS rows`;
  return row?.rows ?? Number.NaN;
}

test('the rows that a query reads are counted', async () => {
  const count = () => db.$queryRaw`SELECT count(*) FROM pages WHERE url LIKE '%test/7'`;
  expect(await rowsReadBy(count)).toBeGreaterThanOrEqual(BIG);
});

test.each<[string, number, () => Promise<unknown>]>([
  ['the progress of a crawl', 200, () => readProgress(db, crawl.id)],
  ['its ten largest domains', 200, () => readDomains(db, crawl.id, 10)],
  ['its links', 20, () => readLinkCounts(db, crawl.id)],
  ['its samples', 20, () => readSamples(db, crawl.id)],
  ['what is left to do on 2,000 domains', 10_000, () => readRemaining(db, crawl.id, crawl.settings)],
  ['a page behind 66,000 others', 15_000, () => readPage(db, `http://big.test/${BIG}`)],
  ['all open crawls, with their due pages', 200, () => readOpenCrawls(db)],
  ['its causes of failure', 5_000, () => readCauses(db, crawl.id)],
  ['everything that is shown of it', 8_000, () => readCrawlReport(db, crawl.id, new Date())],
  ['all crawls at a glance', 10_000, () => readOverview(db, 50)],
  ['ten of its pages', 100, () => listPages(db, crawl.id, {}, 10)],
  ['ten of its pages on one domain', 10_100, () => listPages(db, crawl.id, { domain: 'd7.test' }, 10)],
  ['ten of its pages with a rare status', 10_100, () => listPages(db, crawl.id, { status: 'Blocked' }, 10)],
  ['a page by its URL', 20, () => findListedPage(db, 'http://big.test/7', undefined)],
  ['which failed pages would be retried', 1_000, () => previewRetry(db, crawl.id, {})],
  ['which pending pages a pattern matches', 35_000, () => previewExclude(db, crawl.id, '/7*')],
  [
    'the content of a page with 1,000 links that 33,000 pages link to',
    2_300,
    () => readPageContent(db, linkedPage),
  ],
  ['the last orders', 110, () => listOrders(db, {}, 100)],
  ['the last orders of a crawl', 110, () => listOrders(db, { crawlId: crawl.id }, 100)],
  ['some of 2,000 domains', 2_500, () => listDomains(db, 100)],
  ['how far the retry of 68,000 pages is', 21_000, () => readRetryProgress(db, 'retry')],
])('%s: at most %i rows', async (_what, atMost, read) => {
  expect(await rowsReadBy(read)).toBeLessThanOrEqual(atMost);
  // Changes that are not counted yet are read as they are.
  await crawl.add(...numbered(50, 'new.test'));
  expect(await rowsReadBy(read)).toBeLessThanOrEqual(atMost + 50);
});

test('the history, the proof and the whole view of a domain with 100,000 requests: some thousand rows', async () => {
  await db.$executeRaw`
    INSERT INTO requests (lease_id, domain, crawl_id, page_id, purpose, url, started_at, started_error_ms, min_gap_ms, duration_ms,
                          address, address_block, sent_at)
    SELECT 'r' || n, 'big.test', 'x', 1, 'robots', 'http://big.test/robots.txt', now() - n * interval '1 second', 1, 1000, 1,
           '192.0.2.1', '192.0.2.1', now() FROM generate_series(1, ${BIG}::int) n`;
  expect(await rowsReadBy(() => readRequestHistory(db, 'big.test', 200))).toBeLessThanOrEqual(250);
  const period = { from: new Date(0), until: new Date() };
  expect(await rowsReadBy(() => proveDomain(db, 'big.test', period))).toBeLessThanOrEqual(15_100);
  const options = { period, token: 'amble' };
  expect(await rowsReadBy(() => readDomainDetail(db, 'big.test', options))).toBeLessThanOrEqual(15_400);
  const site = { host: 'big.test', domain: 'big.test' };
  expect(await rowsReadBy(() => readSiteTreatment(db, site, options))).toBeLessThanOrEqual(15_400);
});

test('a page that none of 3,000 crawls has: the rules of the newest 500 crawls', async () => {
  const { settings } = await db.crawl.findUniqueOrThrow({ where: { id: crawl.id } });
  await db.$executeRaw`
    INSERT INTO crawls (id, seeds, settings, scope_hosts, created_at)
    SELECT 'old-' || n, '{}', ${JSON.stringify(settings)}::jsonb, '{}', now() - n * interval '1 day' FROM generate_series(1, 3000) n`;
  await db.$executeRaw`VACUUM ANALYZE`;
  expect(await rowsReadBy(() => findPage(db, 'http://nobody.test/', undefined))).toBeLessThanOrEqual(4_000);
  expect(await findPage(db, 'http://big.test/7', crawl.id)).not.toBeNull();
});

test('how many of 42,000 domains there are: as many as are counted', async () => {
  await db.$executeRaw`INSERT INTO domains (name) SELECT 'e' || n || '.test' FROM generate_series(1, 40000) n`;
  await db.$executeRaw`VACUUM ANALYZE`;
  expect(await rowsReadBy(() => countDomains(db, ''))).toBeLessThanOrEqual(10_100);
});
