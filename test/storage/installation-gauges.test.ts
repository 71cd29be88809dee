import { expect, test } from 'vitest';
import { foldChanges } from '../../src/storage/counts.ts';
import { readInstallationGauges } from '../../src/storage/reports/installation-gauges.ts';
import { failure, HOUR_MS, inOneHour, numbered, startCrawl, useDatabase } from './support.ts';

const db = useDatabase();

test('the gauges count open crawls, the frontier by status, and domains by state', async () => {
  const nothing = await readInstallationGauges(db());
  expect(nothing).toMatchObject({
    crawls: { Running: 0, Paused: 0, Cancelling: 0 },
    frontier: { Pending: 0, Queued: 0, Waiting: 0 },
    oldestDueSeconds: 0,
    domains: { active: 0, cooling: 0, backing_off: 0, retry_after: 0, down: 0, paused: 0 },
  });
  expect(nothing.databaseBytes).toBeGreaterThan(1_000_000);

  const crawl = await startCrawl(db(), { window: 2 });
  await crawl.add(...numbered(5, 'busy.test'), ...numbered(3, 'calm.test'));
  const [page] = await crawl.admit();
  await crawl.record(page, { report: failure(), retryAt: inOneHour() });
  await db().$executeRaw`
    INSERT INTO domains (name, gate, min_gap_ms, paused, backoff_ms, blocked_until, outages) VALUES
      ('busy.test', jsonb_build_object('lastStart', extract(epoch FROM now()) * 1000, 'delayUntil', 0, 'open', '[]'::jsonb), 60000, false, 0, NULL, '{}'),
      ('calm.test', DEFAULT, 0, false, 0, NULL, '{}'),
      ('slow.test', DEFAULT, 0, false, 2000, now() - interval '1 hour', '{}'),
      ('told.test', DEFAULT, 0, false, 4000, now() + interval '1 hour', '{}'),
      ('dead.test', DEFAULT, 0, true, 0, NULL, '{"http://dead.test": {}}')`;

  expect(await readInstallationGauges(db())).toMatchObject({
    crawls: { Running: 1 },
    frontier: { Pending: 4, Queued: 3, Waiting: 1 },
    oldestDueSeconds: 0,
    domains: { active: 2, cooling: 1, backing_off: 2, retry_after: 1, down: 1, paused: 1 },
  });

  await db().$executeRaw`UPDATE domains SET paused = true WHERE name = 'calm.test'`;
  expect(await readInstallationGauges(db())).toMatchObject({ domains: { active: 1, paused: 2 } });

  await crawl.letTimePass(2 * HOUR_MS);
  const { oldestDueSeconds } = await readInstallationGauges(db());
  expect(oldestDueSeconds).toBeGreaterThan(3_600);
  expect(oldestDueSeconds).toBeLessThan(7_300);
});

test('a due page of a paused crawl is not overdue', async () => {
  await db().$executeRaw`UPDATE crawls SET status = 'Paused'`;
  expect(await readInstallationGauges(db())).toMatchObject({
    crawls: { Running: 0, Paused: 1 },
    oldestDueSeconds: 0,
  });
});

test('the gauges read few rows of many pages and domains', async () => {
  const crawl = await startCrawl(db(), { window: 2 });
  await crawl.add(...numbered(3_000, 'big.test'));
  await foldChanges(db(), crawl.id);
  await db().$executeRaw`
    INSERT INTO domains (name) SELECT 'd' || n || '.test' FROM generate_series(1, 3000) n`;
  await db().$executeRaw`VACUUM ANALYZE`;
  expect(await readBy(() => readInstallationGauges(db()))).toBeLessThan(100);
});

/** Rows and index entries that `act` had Postgres read, on whichever connection. */
async function readBy(act: () => Promise<unknown>): Promise<number> {
  const before = await readSoFar();
  await act();
  return (await readSoFar()) - before;
}

async function readSoFar(): Promise<number> {
  await Promise.all(
    Array.from({ length: 25 }, () => db().$queryRaw`SELECT pg_stat_force_next_flush(), pg_sleep(0.05)`),
  );
  const [row] = await db().$queryRaw<{ rows: number }[]>`
    SELECT sum(seq_tup_read + (SELECT sum(idx_tup_read) FROM pg_stat_user_indexes index WHERE index.relid = read.relid))::float8 AS rows
    FROM pg_stat_user_tables AS read WHERE relname IN ('pages', 'domains', 'crawl_page_counts', 'crawl_changes')`;
  return row?.rows ?? Number.NaN;
}
