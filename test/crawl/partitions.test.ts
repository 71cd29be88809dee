/** Real crawls on tables that deploy/postgres/partition.sql has split into two partitions. */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { packageRoot } from '../../src/core/package-root.ts';
import { countPages } from '../../src/storage/reports/counts.ts';
import { type Amble, startAmble } from '../support/amble.ts';
import { links, startWeb, type TestWeb } from '../support/web.ts';

let amble: Amble;
let web: TestWeb;

beforeAll(async () => {
  amble = await startAmble();
  web = await startWeb({
    site: (path) => {
      if (path === '/') return { body: links('/same', '/copy', '/moved', '/gone') };
      if (path === '/same' || path === '/copy') return { body: '<title>Twice</title>' };
      if (path === '/moved') return { status: 301, headers: { location: '/target' } };
      return path === '/target' ? { body: '<title>Target</title>' } : undefined;
    },
  });
});

afterAll(async () => {
  await amble?.stop();
  await web?.stop();
});

const RESULT = { found: 6, pages: { Fetched: 4, Redirected: 1, Failed: 1 } };

function crawl(id: string): Promise<unknown> {
  return amble.crawl({ seeds: [web.url('site')], ...web.network, delay: '20ms' }, id);
}

async function split(): Promise<void> {
  const client = new pg.Client(amble.databaseUrl);
  await client.connect();
  try {
    await client.query('SET amble.partitions = 2');
    await client.query(await readFile(join(packageRoot, 'deploy', 'postgres', 'partition.sql'), 'utf8'));
  } finally {
    await client.end();
  }
}

/** Which partitions have rows of the crawl, and how many. */
async function partsOf(crawlId: string): Promise<Record<string, number>> {
  const rows = await amble.db.$queryRaw<{ part: string; rows: number }[]>`
    SELECT tableoid::regclass::text AS part, count(*)::int AS rows FROM pages WHERE crawl_id = ${crawlId} GROUP BY tableoid
    UNION ALL
    SELECT tableoid::regclass::text, count(*)::int FROM requests WHERE crawl_id = ${crawlId} GROUP BY tableoid`;
  return Object.fromEntries(rows.map(({ part, rows }) => [part, rows]));
}

/** An id that belongs into this partition. */
async function idIn(partition: number): Promise<string> {
  const [row] = await amble.db.$queryRaw<{ id: string }[]>`
    SELECT id FROM (SELECT 'partition-' || random() AS id FROM generate_series(1, 100)) AS ids
    WHERE satisfies_hash_partition('pages'::regclass, 2, ${partition}::int, id) LIMIT 1`;
  if (row === undefined) throw new Error('Of a hundred names, none belongs into the partition.');
  return row.id;
}

test('tables in use can be split, and each crawl is whole in its partition', async () => {
  expect(await crawl('before')).toMatchObject(RESULT);
  const requests = await amble.db.request.count();
  await split();
  expect(Object.values(await partsOf('before')).sort()).toEqual([RESULT.found, requests]);

  const ids = [await idIn(0), await idIn(1)];
  expect(await Promise.all(ids.map(crawl))).toMatchObject([RESULT, RESULT]);
  for (const [partition, id] of ids.entries()) {
    expect(Object.keys(await partsOf(id)).sort()).toEqual([`pages_${partition}`, `requests_${partition}`]);
    expect(await countPages(amble.db, id)).toMatchObject(RESULT);
    const copies = await amble.db.page.findMany({ where: { crawlId: id, duplicateOfId: { not: null } } });
    expect(copies).toHaveLength(1);
  }
  const twice = amble.db.$executeRaw`
    INSERT INTO pages (crawl_id, url, url_hash, domain) SELECT crawl_id, url, url_hash, domain FROM pages`;
  await expect(twice).rejects.toThrow('duplicate key');
});
