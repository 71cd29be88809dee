/**
 * How many rows the steps of a crawl read, as Postgres counts them, with 100,000 pages pending on one domain and 2,000 small
 * domains, whatever the planner knows of the crawl: it may take it for tiny, or have planned when it was.
 */
import { tmpdir } from 'node:os';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { loadConfig } from '../../src/config/index.ts';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { admitDue, findStalled, hasNoAdmittedPages } from '../../src/storage/frontier/sweep.ts';
import { freshDatabase, type TestDatabase } from '../support/engines.ts';
import { inOneHour, linksTo, numbered, startCrawl, success, type TestCrawl } from './support.ts';

const BIG = 100_000;
const SMALL = { domains: 2_000, pages: 3 };
const URL_COUNTS = 20_000;
const HOSTS = 20_000;
const WHEN = ['before it began', 'at its small beginnings', 'in its midst'] as const;

/** Postgres plans a prepared statement five times, and may then keep one plan. */
const PLANNED_AFTER = 10;

const { traps } = loadConfig({ env: {}, cwd: tmpdir(), flags: {} }).crawl;

let database: TestDatabase;
let db: Database;

async function open(): Promise<void> {
  database = await freshDatabase();
  // One connection, so that its own reads can be queried. No parallel workers: they report their reads only when they end,
  // during the measurement of the next step.
  const url = new URL(database.url);
  url.searchParams.set('options', '-c max_parallel_workers_per_gather=0');
  db = openDatabase(url.href, { connections: 1 });
  await db.$executeRaw`ALTER TABLE pages SET (autovacuum_enabled = false)`;
  await db.$executeRaw`ALTER TABLE crawl_url_counts SET (autovacuum_enabled = false)`;
  await db.$executeRaw`ALTER TABLE crawl_hosts SET (autovacuum_enabled = false)`;
  await db.$executeRaw`ALTER TABLE crawl_host_counts SET (autovacuum_enabled = false)`;
}

async function fill(crawlId: string): Promise<void> {
  const { domains, pages } = SMALL;
  await db.$executeRaw`INSERT INTO crawl_domains SELECT ${crawlId}, 'd' || n || '.test' FROM generate_series(1, ${domains}::int) n`;
  await db.$executeRaw`INSERT INTO crawl_domains VALUES (${crawlId}, 'big.test')`;
  await db.$executeRaw`
    INSERT INTO pages (crawl_id, domain, url, url_hash)
    SELECT ${crawlId}, domain, url, sha256(convert_to(url, 'UTF8'))
    FROM (SELECT 'big.test' AS domain, 'http://big.test/' || n AS url FROM generate_series(0, ${BIG - 1}::int) n
          UNION ALL
          SELECT 'd' || d || '.test', 'http://d' || d || '.test/' || n
          FROM generate_series(1, ${domains}::int) d, generate_series(1, ${pages}::int) n) AS page`;
  await db.$executeRaw`
    INSERT INTO crawl_url_counts (crawl_id, group_hash, group_name, url_count)
    SELECT ${crawlId}, sha256(convert_to('group ' || n, 'UTF8')), 'group ' || n, 1 FROM generate_series(1, ${URL_COUNTS}::int) n`;
  await db.$executeRaw`
    INSERT INTO crawl_hosts (crawl_id, host) SELECT ${crawlId}, 'h' || n || '.com' FROM generate_series(1, ${HOSTS}::int) n`;
  await db.$executeRaw`
    INSERT INTO crawl_host_counts (crawl_id, group_name, host_count)
    SELECT ${crawlId}, '*.h' || n || '.com', 1 FROM generate_series(1, ${HOSTS}::int) n`;
}

/** The first pages, recorded one by one: statements are planned while the crawl is small, and the plans may be kept. */
async function beginSmall(crawl: TestCrawl): Promise<void> {
  const first = linksTo(...numbered(100, 'small.test'));
  let pages = await crawl.admit('seed');
  for (let n = 0; n < PLANNED_AFTER; n += 1) {
    const [page, ...others] = pages;
    await crawl.record(page, { report: success(), parsed: first });
    pages = [...others, ...(await crawl.admit(`small-${n}`))];
  }
}

/** Rows of the tables that grow with a crawl, and entries of their indexes, that `act` had Postgres read. */
async function readBy(act: () => Promise<unknown>): Promise<number> {
  const before = await readSoFar();
  await act();
  return (await readSoFar()) - before;
}

async function readSoFar(): Promise<number> {
  await db.$queryRaw`SELECT pg_stat_force_next_flush()`;
  const [row] = await db.$queryRaw<{ rows: number }[]>`
    SELECT sum(seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes index WHERE index.relid = read.relid))::float8 AS rows
    FROM pg_stat_user_tables AS read WHERE relname IN ('pages', 'crawl_url_counts', 'crawl_hosts', 'crawl_host_counts')`;
  return row?.rows ?? Number.NaN;
}

describe.each(WHEN)('with the last ANALYZE %s', (when) => {
  let crawl: TestCrawl;

  beforeAll(async () => {
    await open();
    crawl = await startCrawl(db, { window: 10, traps, seeds: ['http://small.test/'] });
    if (when === 'at its small beginnings') {
      await crawl.add(...numbered(100, 'small.test'));
      await db.$executeRaw`ANALYZE`;
    }
    await beginSmall(crawl);
    await fill(crawl.id);
    if (when === 'in its midst') await db.$executeRaw`ANALYZE`;
  });

  afterAll(async () => {
    await db?.$disconnect();
    await database?.drop();
  });

  test('the rows that a query reads are counted', async () => {
    const count = () =>
      db.$queryRaw`SELECT count(*) FROM pages WHERE crawl_id = ${crawl.id} AND url LIKE '%test/7'`;
    expect(await readBy(count)).toBeGreaterThanOrEqual(BIG);
  });

  test('an admission in the large domain reads about as many rows as it admits', async () => {
    expect(await readBy(() => crawl.admit('first', ['big.test']))).toBeLessThan(150);
  });

  test('a page that ends with a hundred links, and the next admission, read about as many rows as it has links', async () => {
    const pages = await crawl.admit('first', ['big.test']);
    const reads: number[] = [];
    for (const page of pages.slice(0, 6)) {
      const step = async () => {
        await crawl.record(page, { report: success(), parsed: linksTo(...numbered(100, 'big.test')) });
        await crawl.admit(page.pageId, ['big.test']);
      };
      reads.push(await readBy(step));
    }
    expect(Math.max(...reads)).toBeLessThan(1_000);
  });

  test('a page with a hundred links to new pages reads a few rows per link', async () => {
    const pages = await crawl.admit('new', ['d6.test']);
    expect(pages).toHaveLength(SMALL.pages);
    const reads: number[] = [];
    for (const [i, page] of pages.entries()) {
      const parsed = linksTo(...numbered(100, `new-${i}.test`));
      reads.push(await readBy(() => crawl.record(page, { report: success(), parsed })));
    }
    expect(Math.max(...reads)).toBeLessThan(1_000);
  });

  test('a page with a hundred links to new and known hosts reads a few rows per link', async () => {
    const pages = await crawl.admit('hosts', ['d9.test', 'd10.test']);
    expect(pages).toHaveLength(2 * SMALL.pages);
    const reads: number[] = [];
    for (const [i, page] of pages.entries()) {
      const urls = Array.from({ length: 100 }, (_, n) => `http://h${HOSTS - 50 + i * 10 + n}.com/`);
      reads.push(await readBy(() => crawl.record(page, { report: success(), parsed: linksTo(...urls) })));
    }
    expect(Math.max(...reads)).toBeLessThan(1_000);
  });

  test('a page with hosts beyond the limit of their site reads a few rows per link', async () => {
    const urls = (prefix: string) => Array.from({ length: 100 }, (_, n) => `http://${prefix}${n}.full.com/`);
    const [first, second] = await crawl.admit('full', ['d8.test']);
    await db.$executeRaw`INSERT INTO crawl_host_counts VALUES (${crawl.id}, '*.full.com', ${(traps.maxHostsPerSite ?? 0) - 10})`;
    const record = (page = first, prefix = 'a') =>
      crawl.record(page, { report: success(), parsed: linksTo(...urls(prefix)) });
    expect(await readBy(record)).toBeLessThan(1_000);
    expect(await readBy(() => record(second, 'b'))).toBeLessThan(500);
  });

  test('deferring a page for an hour reads a handful of rows', async () => {
    const [page] = await crawl.admit('aside', ['d7.test']);
    const wait = () =>
      crawl.record(page, { report: { ...success(), outcome: 'Failed' }, retryAt: inOneHour() });
    expect(await readBy(wait)).toBeLessThan(150);
  });

  test('a sweep over all domains reads a few rows per domain, not their queues', async () => {
    const sweep = async () => {
      await admitDue(db, crawl.id, crawl.settings, 'sweep');
      await findStalled(db, crawl.id, async () => true);
      await hasNoAdmittedPages(db, crawl.id);
    };
    expect(await readBy(sweep)).toBeLessThan(10 * SMALL.domains);
  });

  test('no domain has more queued pages than the window', async () => {
    const rows = await db.$queryRaw<{ queued: number }[]>`
      SELECT count(*)::int AS queued FROM pages WHERE crawl_id = ${crawl.id} AND status = 'Queued' GROUP BY domain`;
    expect(Math.max(...rows.map(({ queued }) => queued))).toBeLessThanOrEqual(10);
  });
});
