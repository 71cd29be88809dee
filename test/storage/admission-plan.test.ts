/** With 20,000 pages in the queue, admission still reads only what it admits. */
import pg from 'pg';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type Database, openDatabase } from '../../src/storage/database.ts';
import { admitDue, findStalled } from '../../src/storage/frontier/sweep.ts';
import { freshDatabase, type TestDatabase } from '../support/engines.ts';
import { numbered, SETTINGS, startCrawl, type TestCrawl } from './support.ts';

interface PlanNode {
  'Node Type': string;
  'Relation Name'?: string;
  'Index Name'?: string;
  Plans?: PlanNode[];
}

interface Explained {
  'QUERY PLAN': { Plan: PlanNode }[];
}

let database: TestDatabase;
let crawl: TestCrawl;
/** Every statement sent so far, in order. */
const sent: { text: string; values: unknown[] }[] = [];
let db: Database;

beforeAll(async () => {
  database = await freshDatabase();
  db = openDatabase(database.url, { onStatement: (statement) => sent.push(statement) });
  crawl = await startCrawl(db);
  await crawl.add(...numbered(20_000, 'big.test'));
  for (const host of ['b.test', 'c.test']) await crawl.add(...numbered(100, host));
  await db.$executeRaw`
    UPDATE pages SET status = 'Fetched' WHERE crawl_id = ${crawl.id} AND domain = 'big.test' AND id % 4 = 0`;
  await db.$executeRaw`ANALYZE`;
});

afterAll(async () => {
  await db?.$disconnect();
  await database?.drop();
});

/** The plans of the statements that `act` sends, with the values that it sends. */
async function plansOf(act: () => Promise<unknown>): Promise<PlanNode[]> {
  sent.length = 0;
  await act();
  const statements = sent.filter(({ text }) => /\bpages\b/.test(text));
  const client = new pg.Client(database.url);
  await client.connect();
  try {
    const plans: PlanNode[] = [];
    for (const { text, values } of statements) {
      const { rows } = await client.query<Explained>(`EXPLAIN (FORMAT JSON) ${text}`, values);
      plans.push(...rows.flatMap((row) => row['QUERY PLAN'].map(({ Plan }) => Plan)));
    }
    return plans;
  } finally {
    await client.end();
  }
}

function nodesOf(plan: PlanNode): PlanNode[] {
  return [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];
}

function indexesOf(plan: PlanNode): string[] {
  return nodesOf(plan).flatMap((node) => node['Index Name'] ?? []);
}

function scansOfAllPages(plans: PlanNode[]): PlanNode[] {
  const scans = plans.flatMap(nodesOf).filter((node) => node['Node Type'] === 'Seq Scan');
  return scans.filter((node) => node['Relation Name'] === 'pages');
}

test('an admission finds room and ready pages by index and reads no more of them than it admits', async () => {
  const plans = await plansOf(() => crawl.admit());
  expect(scansOfAllPages(plans)).toEqual([]);
  const [room, ready] = plans;
  if (room === undefined || ready === undefined) throw new Error('An admission is two questions at least.');
  expect(indexesOf(room)).toEqual(expect.arrayContaining(['pages_ready', 'pages_queued']));
  expect(indexesOf(ready)).toEqual(expect.arrayContaining(['pages_ready', 'pages_queued']));
  expect(nodesOf(ready).map((node) => node['Node Type'])).not.toContain('Sort');
});

test('a sweep finds due pages and stalled pages by index', async () => {
  const plans = await plansOf(async () => {
    await admitDue(db, crawl.id, SETTINGS, 'sweep');
    await findStalled(db, crawl.id, async () => true);
  });
  expect(scansOfAllPages(plans)).toEqual([]);
  expect(plans.flatMap(indexesOf)).toEqual(expect.arrayContaining(['pages_deferred', 'pages_check']));
});
